package html

import (
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// finding is an entry of the list of findings, with an explanation of its check.
type finding struct {
	report.Item
	Sign      string // character for the severity; may be ""
	Explained string // explanation of the check, at its first finding
}

func (b *builder) explainFindings(items []report.Item) []finding {
	var out []finding
	explained := map[string]bool{} // checks with an earlier finding
	for _, it := range items {
		f := finding{Item: it, Sign: map[string]string{"void": "✕", "warn": "!"}[it.Label]}
		if b.options.Explain != nil && !explained[it.Check] {
			explained[it.Check] = true
			f.Explained = report.Legible(b.options.Explain(it.Check))
		}
		out = append(out, f)
	}
	return out
}

// flame is a flame graph (a picture of a profile).
type flame struct {
	Title  string
	Source template.URL // data URL
}

// maxFlame is the largest flame graph to embed, in bytes.
const maxFlame = 150_000

// newProfileBlocks returns the flame graph of a profile, and x. x.About is the index of the profile.
func (b *builder) newProfileBlocks(x report.Block) []block {
	if i, err := strconv.Atoi(x.About); err == nil && i >= 0 && i < len(b.r.Profiles) {
		p := b.r.Profiles[i]
		return b.newPictureBlocks(x, p.Flame, fmt.Sprintf("Flame graph of %s on %s, %s: width is share; the table above it names the functions with the most of their own, and the file next to the result shows the figures of what is pointed at", p.Contender, p.Workload, p.Of))
	}
	return b.newPictureBlocks(x, "", "")
}

// newExplanationBlocks does the same for the causes of a difference.
func (b *builder) newExplanationBlocks(x report.Block) []block {
	if i, err := strconv.Atoi(x.About); err == nil && i >= 0 && i < len(b.r.Explanations) {
		e := b.r.Explanations[i]
		return b.newPictureBlocks(x, e.Flame, fmt.Sprintf("Flame graph of %s and %s on %s: width is what both take together; red is more in %[2]s, blue is less. The list above it names what differs", e.Against, e.Contender, e.Workload))
	}
	return b.newPictureBlocks(x, "", "")
}

// newPictureBlocks returns the flame graph in file, if it is usable, and the text of x.
func (b *builder) newPictureBlocks(x report.Block, file, title string) []block {
	var out []block
	if b.options.Files != nil && fs.ValidPath(file) && file != "." {
		svg, err := fs.ReadFile(b.options.Files, file)
		isUsable := err == nil && len(svg) <= maxFlame && strings.Contains(string(svg), "<svg")
		if isUsable {
			out = append(out, block{Flame: &flame{
				Title:  report.Legible(title),
				Source: template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg)), //nolint:gosec // a picture: scripts in it do not run
			}})
		}
	}
	if x.Text != "" {
		out = append(out, block{Text: x.Text, Mark: x.Mark})
	}
	return out
}

func (b *builder) newRepeatPart() part {
	p := part{ID: keyRepeat, Heading: "Do it again"}
	p.Blocks = []block{
		{Text: "Download the result document and let tare repeat the run and compare the new figures with these:"},
		{Repeat: []string{"tare rerun ./" + documentName(b.r)}},
	}
	if b.r.Seed != "" {
		p.Blocks = append(p.Blocks, block{Text: "The order of rounds, trials and slices follows from the seed " + report.Legible(b.r.Seed) + "; --seed takes another.", Mark: report.Dim})
	}
	if b.r.Tare != "" {
		p.Blocks = append(p.Blocks, block{Text: "Measured by tare " + report.Legible(b.r.Tare) + ".", Mark: report.Dim})
	}
	if built := listBuilds(b.r.Contenders); len(built) > 0 {
		p.Blocks = append(p.Blocks, block{Text: "Versions and binaries", Mark: report.Bold}, block{Items: built})
	}
	return p
}

// listBuilds returns an entry per set of build settings, then an entry per binary. Labels name the contenders.
func listBuilds(contenders []tare.Contender) []report.Item {
	var settings, binaries []report.Item
	for _, c := range contenders {
		if text := strings.Join(append([]string{c.Go}, c.Flags...), " "); text != "" {
			settings = addName(settings, c, "built with "+text)
		}
		text := c.String()
		if c.SHA256 != "" {
			text += ", sha256 " + c.SHA256
		}
		binaries = addName(binaries, c, text)
	}
	if len(settings) == 1 {
		settings[0].Label = "all"
	}
	return append(settings, binaries...)
}

// addName adds a contender to the label of the item with this text. It appends a new item if needed.
func addName(items []report.Item, c tare.Contender, text string) []report.Item {
	title, text := report.Legible(c.Title()), report.Legible(text)
	i := slices.IndexFunc(items, func(it report.Item) bool { return it.Text == text })
	if i < 0 {
		return append(items, report.Item{Label: title, Text: text})
	}
	items[i].Label += ", " + title
	return items
}
