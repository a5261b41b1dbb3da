package profile

import "slices"

// frame is a node of a flame graph: a function as called by one stack of callers. In a comparison
// of two programs, a value is the sum of both.
type frame struct {
	function  string
	value     float64  // includes callees
	fromValue float64  // first program's part
	self      float64  // excludes callees
	calls     []*frame // callees, largest first
}

func (f *frame) toValue() float64 { return f.value - f.fromValue }

// buildTree merges the stacks into a tree, in which stacks share the frames of equal callers. The
// root has no function.
func (p *Profile) buildTree() *frame {
	type call struct {
		caller   *frame
		function string
	}
	known := map[call]*frame{}
	root := &frame{value: p.Total}
	for _, s := range p.stacks {
		current := root
		for _, f := range s.frames {
			callee := known[call{current, f}]
			if callee == nil {
				callee = &frame{function: f}
				known[call{current, f}] = callee
				current.calls = append(current.calls, callee)
			}
			callee.value += s.value
			callee.fromValue += s.fromValue
			current = callee
		}
		current.self += s.value
	}
	root.sortCalls()
	return root
}

func (f *frame) sortCalls() {
	slices.SortFunc(f.calls, func(a, b *frame) int { return compareValues(a.value, b.value, a.function, b.function) })
	for _, c := range f.calls {
		c.sortCalls()
	}
}

type box struct {
	*frame
	x, width float64 // shares of the graph
	level    int     // number of callers
}

// layOut returns the boxes of the tree, callees below callers. It omits frames narrower than
// minWidth, a share of the graph, and frames with maxLevel callers or more.
func (f *frame) layOut(minWidth float64, maxLevel int) []box {
	var out []box
	total := f.value
	var addCalls func(f *frame, x float64, level int)
	addCalls = func(f *frame, x float64, level int) {
		for _, c := range f.calls {
			width := c.value / total
			if width < minWidth || level >= maxLevel {
				return // the remaining callees are not wider
			}
			out = append(out, box{frame: c, x: x, width: width, level: level})
			addCalls(c, x, level+1)
			x += width
		}
	}
	if total > 0 {
		addCalls(f, 0, 0)
	}
	return out
}

// share is a package and the sum of its functions' values without callees.
type share struct {
	name  string
	value float64
}

func (p *Profile) sumPackages() []share {
	sums := map[string]float64{}
	for _, s := range p.stacks {
		innermost := s.frames[len(s.frames)-1]
		sums[PackageOf(innermost)] += s.value
	}
	var out []share
	for name, v := range sums {
		out = append(out, share{name, v})
	}
	slices.SortFunc(out, func(a, b share) int { return compareValues(a.value, b.value, a.name, b.name) })
	return out
}
