package profile

import (
	"slices"
)

// frame is a function in a flame graph, below its caller.
type frame struct {
	function string
	value    float64 // of the function and its callees
	before   float64 // part of value from the first of two contenders
	own      float64
	calls    []*frame // largest first
}

// buildTree merges the stacks by their callers.
func (p *Profile) buildTree() *frame {
	type call struct {
		caller   *frame
		function string
	}
	known := map[call]*frame{}
	root := &frame{value: p.Total}
	for _, s := range p.stacks {
		at := root
		for _, f := range s.frames {
			c := known[call{at, f}]
			if c == nil {
				c = &frame{function: f}
				known[call{at, f}] = c
				at.calls = append(at.calls, c)
			}
			at = c
			at.value += s.value
			at.before += s.before
		}
		at.own += s.value
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

// box is a drawn frame.
type box struct {
	*frame
	x, width float64 // as shares of the graph
	level    int     // 0 without a caller
}

// layOut returns the boxes of the tree: callees below callers, widths by value. It omits frames
// narrower than least, a share, and those at level levels and below.
func (f *frame) layOut(least float64, levels int) []box {
	var out []box
	var place func(f *frame, x float64, level int)
	whole := f.value
	place = func(f *frame, x float64, level int) {
		for _, c := range f.calls {
			width := c.value / whole
			if width < least || level >= levels {
				return // the others are narrower
			}
			out = append(out, box{c, x, width, level})
			place(c, x, level+1)
			x += width
		}
	}
	if whole > 0 {
		place(f, 0, 0)
	}
	return out
}

// sumPackages sums the functions' own values by package, largest first.
func (p *Profile) sumPackages() []share {
	sums := map[string]float64{}
	for _, s := range p.stacks {
		sums[packageOf(s.frames[len(s.frames)-1])] += s.value
	}
	var out []share
	for name, v := range sums {
		out = append(out, share{name, v})
	}
	slices.SortFunc(out, func(a, b share) int { return compareValues(a.value, b.value, a.name, b.name) })
	return out
}

// share is a package and the sum of its functions' own values.
type share struct {
	name  string
	value float64
}
