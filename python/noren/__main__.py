"""`python -m noren`: the command-line tool."""

import sys

from noren._tool import main

sys.exit(main())
