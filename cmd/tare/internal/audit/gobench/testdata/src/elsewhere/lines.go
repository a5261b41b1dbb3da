package elsewhere

// Lines returns n lines of a width.
func Lines(n, width int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = string(make([]byte, width))
	}
	return out
}
