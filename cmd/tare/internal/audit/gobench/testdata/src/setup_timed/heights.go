package setup_timed

// Heights makes a line of n heights.
func Heights(n int) []float64 {
	line := make([]float64, n)
	for i := range line {
		line[i] = float64(i * i % 97)
	}
	return line
}
