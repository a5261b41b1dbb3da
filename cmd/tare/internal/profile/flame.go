package profile

import (
	"slices"
)

// frame is a function in a flame graph, under its callers.
type frame struct {
	function string
	value    float64 // its own and what it called
	before   float64 // what of value is the first contender's, where there are two
	own      float64
	calls    []*frame // the greatest first
}

// tree joins the stacks by their callers.
func (p *Profile) tree() *frame {
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
	root.sort()
	return root
}

func (f *frame) sort() {
	slices.SortFunc(f.calls, func(a, b *frame) int { return order(a.value, b.value, a.function, b.function) })
	for _, c := range f.calls {
		c.sort()
	}
}

// box is a frame that is drawn.
type box struct {
	*frame
	x, width float64 // as shares of the graph
	level    int     // 0: without a caller
}

// boxes lays the tree out: callers above, what they call below them, as wide as
// what was seen of it. Frames narrower than least, a share, are left out, and
// so is what lies more than levels deep.
func (f *frame) boxes(least float64, levels int) []box {
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

// packages sums what functions took themselves by package, the greatest first.
func (p *Profile) packages() []share {
	sums := map[string]float64{}
	for _, s := range p.stacks {
		sums[packageOf(s.frames[len(s.frames)-1])] += s.value
	}
	var out []share
	for name, v := range sums {
		out = append(out, share{name, v})
	}
	slices.SortFunc(out, func(a, b share) int { return order(a.value, b.value, a.name, b.name) })
	return out
}

// share is a package and what its functions took themselves.
type share struct {
	name  string
	value float64
}
