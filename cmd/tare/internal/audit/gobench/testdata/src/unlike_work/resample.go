package unlike_work

// The benchmarks of this example compare two ways to double samples: linear does it in one call, and
// a filter in its method convert. A benchmark that only calls newFilter does no work.

// linear returns samples times two.
func linear(samples []float64) []float64 {
	out := make([]float64, len(samples))
	for i, x := range samples {
		out[i] = 2 * x
	}
	return out
}

// filter doubles samples, in convert.
type filter struct{ samples, out []float64 }

// newFilter returns a filter that has not converted anything yet.
func newFilter(samples []float64) *filter {
	return &filter{samples, make([]float64, len(samples))}
}

// convert returns the samples of f times two.
func (f *filter) convert() []float64 {
	for i, x := range f.samples {
		f.out[i] = 2 * x
	}
	return f.out
}
