package profile

import (
	"fmt"
	"math"
	"strings"
)

const shadeSteps = 4

// DifferenceFlame draws the cost of an operation in two programs as one flame graph, an SVG. The
// width of a box, a function, is the sum of both costs. It is red if the second program takes more,
// and blue if it takes less. The caller joins profiles of several rounds by [Profile.Add].
func DifferenceFlame(title string, first, second Side) []byte {
	p := &Profile{Kind: first.Profile.Kind, Unit: first.Profile.Unit}
	for _, s := range first.Profile.stacks {
		value := s.value / float64(max(1, first.Ops))
		p.stacks = append(p.stacks, stack{frames: s.frames, value: value, fromValue: value})
		p.Total += value
	}
	fromTotal := p.Total
	for _, s := range second.Profile.stacks {
		value := s.value / float64(max(1, second.Ops))
		p.stacks = append(p.stacks, stack{frames: s.frames, value: value})
		p.Total += value
	}
	toTotal := p.Total - fromTotal
	caption := fmt.Sprintf("%s for an operation of %s, %s of %s. As wide as both together; red: %[4]s takes more, blue: less; point at one for its figures.",
		p.formatAmount(fromTotal), first.Name, p.formatAmount(toTotal), second.Name)
	return p.drawToFit(title, func([]box) graphLook {
		return graphLook{
			caption: caption, style: shadeStyles(),
			class: func(x box) string { return shadeClass(x.toValue()-x.fromValue, toTotal-fromTotal, p.Total) },
			tooltip: func(x box) string {
				text := fmt.Sprintf("%s: %s of %s, %s of %s", x.function, p.formatAmount(x.fromValue), first.Name, p.formatAmount(x.toValue()), second.Name)
				if difference := toTotal - fromTotal; difference != 0 {
					text += fmt.Sprintf("; %.0f %% of the difference", 100*(x.toValue()-x.fromValue)/difference)
				}
				return text
			},
		}
	})
}

func shadeStyles() string {
	const red, blue = 12, 215 // hues in degrees
	var light, dark strings.Builder
	for _, c := range []struct {
		name string
		hue  int
	}{{"more", red}, {"less", blue}} {
		for i := range shadeSteps {
			fmt.Fprintf(&light, ".tare-flame .%s%d{fill:hsl(%d,80%%,%d%%)}", c.name, i+1, c.hue, 90-8*(i+1))
			fmt.Fprintf(&dark, ".tare-flame .%s%d{fill:hsl(%d,%d%%,%d%%)}", c.name, i+1, c.hue, 45+5*i, 22+5*(i+1))
		}
	}
	return "<style>" + light.String() + "\n@media (prefers-color-scheme:dark){" + dark.String() + "}</style>\n"
}

// Add adds the samples of another profile of the same program.
func (p *Profile) Add(other *Profile) {
	p.Total += other.Total
	p.stacks = append(p.stacks, other.stacks...)
}

// shadeClass returns the CSS class of a box with the difference d. The larger the share of d in
// whole, the difference of both programs, the stronger the shade. total is the sum of both costs.
// Less than a hundredth of it is grey.
func shadeClass(d, difference, total float64) string {
	if math.Abs(d) < total/100 {
		return runtimeClass // grey
	}
	class := "more"
	if d < 0 {
		class = "less"
	}
	step := math.Ceil(shadeSteps * math.Min(1, math.Abs(d)/math.Abs(difference)))
	if math.IsNaN(step) || difference == 0 { // differences of functions cancel each other out
		step = shadeSteps
	}
	return fmt.Sprintf("%s%.0f", class, math.Max(1, step))
}
