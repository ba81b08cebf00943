"""The tables of the pages that show results, each made from records alone."""
