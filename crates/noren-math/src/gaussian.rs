//! The table of the discrete Gaussian.

/// The largest absolute value that [`gaussian`](crate::sample::gaussian) gives: 10 standard deviations.
pub const GAUSSIAN_BOUND: i64 = 32;

/// `THRESHOLDS[k-1] = round(2^126 P(|x| >= k))` for `k = 1..=32`; `tests/sampling.rs` computes them again.
pub(crate) const THRESHOLDS: [u128; GAUSSIAN_BOUND as usize] = [
    0x37ff032f_269ab5cb_c144a596_f2ec21dc,
    0x28c18608_7c3e49a5_132d75de_234512f5,
    0x1b9ac0bd_13e5ad43_17dca19f_b089054e,
    0x11515744_3844fbbf_aeb19dd8_022ae81a,
    0x0a065533_d57def27_e3c2d2a2_a65b7408,
    0x055691b7_bfc22095_15ad1c59_4b9d7ee1,
    0x029bbefd_4f2d9b45_92c7eaaf_8af5f15c,
    0x012acd34_d6da4001_63be9409_c6ced5b0,
    0x007a3f75_a22d89a3_65008a99_6048296e,
    0x002dab01_d0ad458b_a2693c51_1b7b2635,
    0x000f8f7c_42886373_057bb7ea_86c7837f,
    0x0004d4e0_3f787517_f7cf7870_bca3894b,
    0x00015db7_b3321d35_95a14f50_7bd767b4,
    0x000059fb_fd9963c9_2d41a969_f3fef49b,
    0x0000150f_38c012f3_e40f7b23_6c42b4c9,
    0x0000047b_1cc31e89_00bb70ba_3ac4702c,
    0x000000dd_d1c3784a_09d9b16a_6a79720f,
    0x00000026_f842ad5a_c055a2b1_59944339,
    0x00000006_37e16e51_5f35e78c_2875595a,
    0x00000000_e6a7c971_44df5a2b_6bc5e4b2,
    0x00000000_1e576d19_cace163d_89656de1,
    0x00000000_039f744d_a0249f94_aa1e2a38,
    0x00000000_006480e6_5b77e7b9_c739f03a,
    0x00000000_0009e204_00cd8b76_ebed859b,
    0x00000000_0000e1ba_6551796d_b977ccb4,
    0x00000000_00001245_5f4b7a90_08a98d59,
    0x00000000_00000157_70aa3384_27225bad,
    0x00000000_00000016_dfaa33a4_681701dc,
    0x00000000_00000001_61b92084_6127daaf,
    0x00000000_00000000_13608e7a_d8f2c5ba,
    0x00000000_00000000_00f60717_d138dfc7,
    0x00000000_00000000_000aa6c5_fe18a930,
];
