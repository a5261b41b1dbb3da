package unlike_work

// linear converts samples.
func linear(samples []float64) []float64 {
	out := make([]float64, len(samples))
	for i, x := range samples {
		out[i] = 2 * x
	}
	return out
}

type filter struct{ samples, out []float64 }

func newFilter(samples []float64) *filter {
	return &filter{samples, make([]float64, len(samples))}
}

// convert converts the samples of f.
func (f *filter) convert() []float64 {
	for i, x := range f.samples {
		f.out[i] = 2 * x
	}
	return f.out
}
