package stats

// This file splits the variance of effects in two. One part shrinks if rounds get longer, and the
// other one only if there are more rounds.

// Variance is the variance of the logarithm of the ratio of two contenders, in two components.
type Variance struct {
	Within  float64 // variance from block to block in a round; a block is a few consecutive slices
	Between float64 // additional variance from round to round, which longer rounds do not reduce
	Rounds  int     // number of rounds that it was estimated from
}

// Components splits the variance of effects into two: within, that of a block within its round, and
// between, the rest of the variance between rounds. blocks has the effects of the blocks of each
// round. Rounds with fewer than two blocks are ignored. ok is false if fewer than two rounds
// remain. A negative estimate of between becomes 0.
//
// Source: the analysis-of-variance estimator of a one-way random-effects model (S. R. Searle, G.
// Casella, C. E. McCulloch, "Variance Components", 1992, §3.6).
func Components(blocks [][]float64) (within, between float64, ok bool) {
	var means []float64
	var squares, free, inverse float64 // sums of squares within rounds, degrees of freedom, 1/length
	for _, x := range blocks {
		if len(x) < 2 {
			continue
		}
		m := computeMean(x)
		for _, v := range x {
			squares += (v - m) * (v - m)
		}
		free += float64(len(x) - 1)
		inverse += 1 / float64(len(x))
		means = append(means, m)
	}
	if len(means) < 2 {
		return 0, 0, false
	}
	within = squares / free
	m, spread := computeMean(means), 0.0
	for _, v := range means {
		spread += (v - m) * (v - m)
	}
	n := float64(len(means))
	// The variance of a round's mean is between + within/length, and inverse/n is the mean of
	// 1/length.
	return within, max(0, spread/(n-1)-within*inverse/n), true
}

func computeMean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
