package shared_state

type grid struct{ cells map[int][]int }

func (g *grid) insert(x int) error {
	g.cells[x%8] = append(g.cells[x%8], x)
	return nil
}

// Load adds all points.
func (g *grid) Load(points []int) {
	for _, x := range points {
		g.insert(x)
	}
}

// TryLoad adds all points, or ends at an error.
func (g *grid) TryLoad(points []int) error {
	for _, x := range points {
		if err := g.insert(x); err != nil {
			return err
		}
	}
	return nil
}

// Ensure adds a point only if it is not there.
func (g *grid) Ensure(x int) {
	if len(g.cells[x%8]) == 0 {
		g.insert(x)
	}
}

// loadInto is a function, not a method.
func loadInto(g *grid, points []int) { g.Load(points) }

func (g *grid) Near(x int) int { return len(g.cells[x%8]) }
