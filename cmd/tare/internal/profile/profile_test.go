package profile

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/internal/golden"
	"github.com/tarebench/tare/internal/protowire"
)

// call is one stack, the outermost function first, and what was seen with it.
type call struct {
	value  int64
	frames string // with spaces between them
}

const loop = "runtime.main main.main github.com/tarebench/tare/contender.Main github.com/tarebench/tare/contender.(*work).run "

// lean and rich are two servers' time in ns, made by hand.
var (
	lean = []call{
		{60e6, loop + "example.org/lean.Encode example.org/lean.number"},
		{30e6, loop + "example.org/lean.Encode runtime.mallocgc"},
		{10e6, "runtime.gcBgMarkWorker runtime.gcDrain"},
	}
	rich = []call{
		{200e6, loop + "encoding/json.Marshal encoding/json.encode encoding/json.encode strconv.AppendFloat"},
		{50e6, loop + "encoding/json.Marshal encoding/json.encode"},
		{40e6, loop + "encoding/json.Marshal runtime.mallocgc"},
		{9e6, "runtime.gcBgMarkWorker runtime.gcDrain"},
		{1e6, loop + "encoding/json.Marshal sort.Slice[go.shape.[]encoding/json.field]"},
	}
)

// document is calls as a pprof document with a count beside each value.
func document(t testing.TB, kind, unit string, calls []call) []byte {
	t.Helper()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: kind, Unit: unit}}}
	known := map[string]*profile.Location{}
	for _, c := range calls {
		s := &profile.Sample{Value: []int64{1, c.value}}
		for _, name := range strings.Fields(c.frames) {
			l := known[name]
			if l == nil {
				f := &profile.Function{ID: uint64(len(known) + 1), Name: strings.ReplaceAll(name, "␠", " ")}
				l = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
				known[name] = l
				p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			}
			s.Location = append([]*profile.Location{l}, s.Location...)
		}
		p.Sample = append(p.Sample, s)
	}
	var doc bytes.Buffer
	assert.NoError(t, "write", p.Write(&doc))
	return doc.Bytes()
}

func cpu(t testing.TB, calls []call) *Profile {
	t.Helper()
	p, err := Read(document(t, "cpu", "nanoseconds", calls), tare.ProfileCPU)
	assert.NoError(t, "read", err)
	return p
}

func TestTop(t *testing.T) {
	p := cpu(t, rich)
	want := []tare.ProfileLine{
		{Function: "strconv.AppendFloat", Flat: 200e6, Cumulative: 200e6},
		{Function: "encoding/json.encode", Flat: 50e6, Cumulative: 250e6}, // twice on one stack
		{Function: "runtime.mallocgc", Flat: 40e6, Cumulative: 40e6},
	}
	got := p.Top(3)
	if fmt.Sprint(got) != fmt.Sprint(want) || p.Total != 300e6 || p.Unit != "nanoseconds" {
		t.Errorf("%v %s in all, top %v, want %v", p.Total, p.Unit, got, want)
	}
	r := tare.Profile{Contender: "encoding-json", Ops: 7}
	p.Describe(&r, 3)
	if r.Contender != "encoding-json" || r.Ops != 7 || r.Of != "cpu" || r.Unit != p.Unit || r.Total != p.Total || fmt.Sprint(r.Top) != fmt.Sprint(want) {
		t.Errorf("%+v", r)
	}
	if all := p.Top(99); len(all) != 5 {
		t.Errorf("%d functions took something themselves, want 5: %v", len(all), all)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		of    string
		types string
		want  int
	}{
		{"cpu", "samples/count cpu/nanoseconds", 1},
		{"mem", "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes", 1},
		{"mem", "space/bytes more/bytes", 1},
		{"mem", "samples/count cpu/nanoseconds", -1},
	} {
		var types []*profile.ValueType
		for _, s := range strings.Fields(c.types) {
			kind, unit, _ := strings.Cut(s, "/")
			types = append(types, &profile.ValueType{Type: kind, Unit: unit})
		}
		if got := valueIn(types, map[string]string{"cpu": "nanoseconds", "mem": "bytes"}[c.of]); got != c.want {
			t.Errorf("%s of %s: value %d, want %d", c.of, c.types, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ function, pkg, short string }{
		{"encoding/json.(*encodeState).marshal", "encoding/json", "json.(*encodeState).marshal"},
		{"main.main", "main", "main.main"},
		{"github.com/a/b%2ev2.F", "github.com/a/b.v2", "b%2ev2.F"},
		{"slices.pdqsort[go.shape.[]encoding/json.field]", "slices", "slices.pdqsort[go.shape.[]encoding/json.field]"},
		{"a/b.F[c/d.T].func1", "a/b", "b.F[c/d.T].func1"},
		{"memeqbody", "", "memeqbody"},
		{"", "", ""},
	} {
		if p, s := PackageOf(c.function), shortName(c.function); p != c.pkg || s != c.short {
			t.Errorf("%q: package %q, short %q, want %q, %q", c.function, p, s, c.pkg, c.short)
		}
	}
	for _, c := range []struct {
		width float64
		want  string
	}{{400, "json.(*encodeState).marshal"}, {160, "(*encodeState).marshal"}, {60, "(*encode…"}, {10, ""}} {
		if got := fitName("encoding/json.(*encodeState).marshal", c.width); got != c.want {
			t.Errorf("in %v pixels %q, want %q", c.width, got, c.want)
		}
	}
}

func TestGap(t *testing.T) {
	g, err := Compare(Side{"encoding-json", cpu(t, rich), 1000}, Side{"lean", cpu(t, lean), 1000}, 4)
	assert.NoError(t, "compare", err)
	if g.Functions[0].Name != "strconv.AppendFloat" || g.Functions[0].Change() != -200e3 || g.Whole.Change() != -200e3 {
		t.Errorf("%+v", g)
	}
	sum := g.Rest.Change()
	for _, l := range g.Functions {
		sum += l.Change()
	}
	if math.Abs(sum-g.Whole.Change()) > 1e-6 {
		t.Errorf("the lines add up to %v, the gap is %v", sum, g.Whole.Change())
	}
	var b bytes.Buffer
	assert.NoError(t, "write text", g.WriteText(&b))
	golden.Check(t, "gap.txt", b.Bytes())

	// One sample is no difference, and five are.
	few := cpu(t, []call{{10e6, "example.org/p.F"}})
	few.Sample = 10e6
	many := cpu(t, []call{{50e6, "example.org/p.F"}, {10e6, "example.org/q.G"}, {10e6, "runtime.mcall runtime.schedule internal/runtime/syscall/linux.Syscall6"}, {60e6, "example.org/p.F runtime.newstack runtime.copystack memmove"}})
	many.Sample = 10e6
	if g, err = Compare(Side{"a", few, 10}, Side{"b", many, 10}, 9); err != nil || len(g.Functions) != 1 || g.Functions[0].Name != "memmove" || len(g.SignificantParts) != 1 || g.SignificantParts[0].Name != partGrowing || len(g.Parts) != 4 {
		t.Errorf("%+v %v", g, err)
	}
	if d := g.Describe(3); d.Against != "a" || d.From != 1e6 || d.To != 13e6 || len(d.Parts) != 1 || len(d.Functions) != 1 {
		t.Errorf("%+v", d)
	}

	// Per operation: the same profile of half as many operations is twice as much.
	if g, err = Compare(Side{"a", cpu(t, lean), 100}, Side{"b", cpu(t, lean), 50}, 1); err != nil || g.Functions[0].To != 2*g.Functions[0].From {
		t.Errorf("%+v %v", g, err)
	}
	mem := &Profile{Kind: tare.ProfileMem}
	for _, bad := range [][2]Side{{{"a", nil, 1}, {"b", mem, 1}}, {{"a", mem, 0}, {"b", mem, 1}}, {{"a", mem, 1}, {"b", cpu(t, lean), 1}}} {
		if _, err := Compare(bad[0], bad[1], 3); err == nil {
			t.Errorf("a gap of %+v", bad)
		}
	}
}

func TestFlame(t *testing.T) {
	golden.Check(t, "rich.svg", wellFormed(t, cpu(t, rich).Flame("encoding-json on devices-50/marshal, cpu", 1000)))
	p, err := Read(document(t, "alloc_space", "bytes", lean), tare.ProfileMem)
	assert.NoError(t, "read", err)
	golden.Check(t, "lean-mem.svg", wellFormed(t, p.Flame("lean on devices-50/marshal, mem", 0)))
	empty := cpu(t, nil)
	if svg := string(wellFormed(t, empty.Flame("nothing", 0))); !strings.Contains(svg, "nothing was seen on a processor") || strings.Contains(svg, "NaN") {
		t.Error(svg)
	}
}

// Packages have colours of their own as long as there are hues, and have
// the same ones in every graph where nobody else took them.
func TestColours(t *testing.T) {
	var calls []call
	for i := range 2 * hues {
		calls = append(calls, call{int64(1000 - i), fmt.Sprintf("example.org/p%d.F", i)})
	}
	calls = append(calls, call{5, "runtime.mallocgc internal/runtime/syscall/linux.Syscall6"}, call{4, "memeqbody"})
	p := cpu(t, calls)
	classes := p.chooseColours(p.buildTree().layOut(0, 9))
	seen := map[string]bool{}
	for _, class := range classes {
		seen[class] = true
	}
	if len(seen) != 2*hues+2 || classes["runtime"] != "rt" || classes[""] != "rt" || classes["internal/runtime/syscall/linux"] != "sys" {
		t.Errorf("%d classes: %v", len(seen), classes)
	}
	alone := cpu(t, calls[:1])
	if again := alone.chooseColours(alone.buildTree().layOut(0, 9)); again["example.org/p0"] != classes["example.org/p0"] {
		t.Errorf("p0 is %s here and %s there", again["example.org/p0"], classes["example.org/p0"])
	}
	if l := cpu(t, calls[2*hues:]).buildLegend(classes); len(l) != 2 || l[0] != (legendEntry{"sys", "system calls: itself 5 ns, 56 %"}) || l[1] != (legendEntry{"rt", "the Go runtime: itself 4 ns, 44 %"}) {
		t.Errorf("legend %+v", l)
	}
}

// wellFormed demands that svg is one document of XML, without scripts or
// anything from elsewhere.
func wellFormed(t testing.TB, svg []byte) []byte {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		el, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch el.Name.Local {
		case "svg", "g", "rect", "text", "title", "style":
		default:
			t.Errorf("element %s", el.Name.Local)
		}
		for _, a := range el.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") {
				t.Errorf("attribute %s", a.Name.Local)
			}
		}
	}
	if len(svg) > maxSVG {
		t.Errorf("%d bytes, at most %d", len(svg), maxSVG)
	}
	return svg
}

func TestNamesAreText(t *testing.T) {
	evil := `</title></g><script>alert(1)</script>&"'` + "\x00\x1b[31m\n"
	p := cpu(t, []call{{5, "a." + strings.ReplaceAll(evil, "\n", "␠")}, {4, "b.<x> c.&y"}})
	p.stacks[0].frames[0] += "\n\xff"
	svg := string(wellFormed(t, p.Flame(`<script>&"`+evil, 3)))
	if strings.Contains(svg, "<script") || strings.ContainsAny(svg, "\x00\x1b") || strings.Contains(svg, "\xff") || !strings.Contains(svg, "&lt;script&gt;") {
		t.Error(svg)
	}
	g, err := Compare(Side{"a\n", p, 1}, Side{"b\x1b", p, 2}, 9)
	assert.NoError(t, "compare", err)
	var b bytes.Buffer
	if err := g.WriteText(&b); err != nil || strings.Count(b.String(), "\n") != 1+len(g.Parts)+1+1+1+len(g.Functions)+2 || strings.ContainsAny(b.String(), "\x00\x1b") {
		t.Errorf("%v: %q", err, b.String())
	}
}

// Thousands of functions and deep recursions still make a graph of bounded size.
func TestFlameIsPruned(t *testing.T) {
	p := &Profile{Kind: tare.ProfileCPU, Unit: "nanoseconds"}
	name := func(i, k int) string { return fmt.Sprintf("example.org/some/long/path/p%d.Function%d", k%40, i) }
	for i := range 3000 {
		s := stack{value: float64(1 + i%7)}
		for k := range 12 {
			s.frames = append(s.frames, name(i/(1+12-k), k))
		}
		p.stacks = append(p.stacks, s)
		p.Total += s.value
	}
	deep := stack{value: p.Total}
	for range 5000 {
		deep.frames = append(deep.frames, "example.org/r.Recurse")
	}
	p.stacks, p.Total = append(p.stacks, deep), 2*p.Total
	svg := wellFormed(t, p.Flame("many", 1))
	if n := bytes.Count(svg, []byte("<g>")); n < 300 {
		t.Errorf("only %d boxes are left", n)
	}
	if !bytes.Contains(svg, []byte(fmt.Sprintf(`height="%d"`, headHeight+maxLevels*rowHeight+2*margin+legendRow))) {
		t.Errorf("%.200s", svg)
	}
}

func TestReadRefuses(t *testing.T) {
	good := document(t, "cpu", "nanoseconds", rich)
	for n := range good {
		if _, err := Read(good[:n], tare.ProfileCPU); err == nil {
			t.Errorf("%d of %d bytes are taken for a document", n, len(good))
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of several lines: %v", err)
		}
	}
	if _, err := unzip(zipped(t, make([]byte, 1001)), 1000); err == nil || err.Error() != "more than 1000 bytes" {
		t.Errorf("a document that is larger when it is unpacked: %v", err)
	}
	for want, read := range map[string]func() (*Profile, error){
		"no value in bytes":            func() (*Profile, error) { return Read(good, tare.ProfileMem) },
		"there is one of cpu":          func() (*Profile, error) { return Read(good, "heap") },
		"read a cpu profile":           func() (*Profile, error) { return Read([]byte("heap profile: 1: 2 [3: 4] @ heap/1"), tare.ProfileCPU) },
		"read a mem profile: it is em": func() (*Profile, error) { return Read(zipped(t, nil), tare.ProfileMem) },
	} {
		if _, err := read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A stack has as many frames as are kept, and so have all: a location may stand for many
// functions, and in many stacks.
func TestFramesAreBounded(t *testing.T) {
	f := &profile.Function{ID: 1, Name: "f"}
	wide := &profile.Location{ID: 1, Line: slices.Repeat([]profile.Line{{Function: f}}, 1_000_000)}
	inner := &profile.Location{ID: 2, Line: []profile.Line{{Function: &profile.Function{ID: 2, Name: "inner"}}}}
	s := &profile.Sample{Location: append([]*profile.Location{inner}, slices.Repeat([]*profile.Location{wide}, maxDepth)...), Value: []int64{1, 1}}
	before := testing.AllocsPerRun(1, func() {
		if got := sampleFrames(s); len(got) != maxDepth || got[maxDepth-1] != "inner" || got[0] != "f" {
			t.Errorf("%d frames, %s at the end", len(got), got[len(got)-1])
		}
	})
	if before > 50 {
		t.Errorf("%v allocations for %d frames", before, maxDepth)
	}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Function:   []*profile.Function{f}, Location: []*profile.Location{{ID: 1, Line: wide.Line[:maxDepth]}},
	}
	for range maxFrames/maxDepth + 1 {
		p.Sample = append(p.Sample, &profile.Sample{Location: p.Location, Value: []int64{1, 1}})
	}
	var doc bytes.Buffer
	assert.NoError(t, "write", p.Write(&doc))
	if _, err := Read(doc.Bytes(), tare.ProfileCPU); err == nil || !strings.Contains(err.Error(), "more than 16777216 frames in all stacks") {
		t.Errorf("%d bytes: %v", doc.Len(), err)
	}
}

// A graph of differences is well-formed, as wide as both sides, and says of each
// function what either takes.
func TestFlameOfDifference(t *testing.T) {
	side := func(name string, of ...stack) Side {
		p := &Profile{Kind: tare.ProfileCPU, Unit: "nanoseconds"}
		for _, s := range of {
			p.Add(&Profile{Total: s.value, stacks: []stack{s}})
		}
		return Side{Name: name, Profile: p, Ops: 10}
	}
	from := side("base", stack{frames: []string{"m.Run", "m.Same"}, value: 1000}, stack{frames: []string{"m.Run", "m.Gone<"}, value: 500})
	to := side("head", stack{frames: []string{"m.Run", "m.Same"}, value: 1005}, stack{frames: []string{"m.Run", "m.New"}, value: 2000})
	svg := string(DifferenceFlame("head & base", from, to))
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
	}
	for _, want := range []string{
		"150 ns for an operation of base, 300 ns of head",
		`<title>m.New: 0 ns of base, 200 ns of head; 133 % of the difference</title><rect class="more4"`,
		`<title>m.Gone&lt;: 50 ns of base, 0 ns of head; -33 % of the difference</title><rect class="less2"`,
		`<title>m.Same: 100 ns of base, 100 ns of head; 0 % of the difference</title><rect class="rt"`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in\n%s", want, svg)
		}
	}
	if again := string(DifferenceFlame("head & base", from, to)); again != svg {
		t.Error("the same profiles are drawn in two ways")
	}
	if path := os.Getenv("TARE_KEEP_FLAME"); path != "" {
		assert.NoError(t, "write a file", os.WriteFile(path, []byte(svg), 0o644))
	}
}

// TestPartsAreBounded: two bytes of a document are a sample of a hundred and fifty, so
// parts are counted before they are decoded.
func TestPartsAreBounded(t *testing.T) {
	const parts, numbers = 100, 1000
	sample := func(fields ...[]byte) []byte { return protowire.AppendBytes(nil, 2, slices.Concat(fields...)) }
	for name, tt := range map[string]struct {
		part []byte
		many int // of the bound's kind in a part
		most int
		what string
	}{
		"samples":          {sample(), 1, parts, "parts"},
		"labels":           {sample(protowire.AppendBytes(nil, 3, nil)), 2, parts, "parts"},
		"lines":            {protowire.AppendBytes(nil, 4, protowire.AppendBytes(nil, 4, nil)), 2, parts, "parts"},
		"functions":        {protowire.AppendBytes(nil, 5, nil), 1, parts, "parts"},
		"names":            {protowire.AppendBytes(nil, 6, nil), 1, parts, "parts"},
		"comments":         {protowire.AppendNumber(nil, 13, 1), 1, parts, "parts"},
		"packed locations": {sample(protowire.AppendBytes(nil, 1, bytes.Repeat([]byte{0x80, 1}, 100))), 100, numbers, "numbers"},
		"locations":        {sample(bytes.Repeat(protowire.AppendNumber(nil, 1, 300), 100)), 100, numbers, "numbers"},
		"values":           {sample(protowire.AppendBytes(nil, 2, make([]byte, 100))), 100, numbers, "numbers"},
	} {
		n := tt.most / tt.many
		if err := checkBounds(bytes.Repeat(tt.part, n), parts, numbers); err != nil {
			t.Errorf("%d %s: %v", n, name, err)
		}
		if err := checkBounds(bytes.Repeat(tt.part, n+1), parts, numbers); err == nil || !strings.Contains(err.Error(), tt.what) {
			t.Errorf("%d %s: %v", n+1, name, err)
		}
	}
	var doc bytes.Buffer
	zip := gzip.NewWriter(&doc)
	if _, err := zip.Write(bytes.Repeat(sample(), maxParts+1)); err != nil || zip.Close() != nil {
		t.Fatal(err)
	}
	if _, err := Read(doc.Bytes(), tare.ProfileCPU); err == nil || err.Error() != "read a cpu profile: more than 4194304 samples, locations, functions and other parts" {
		t.Error(err)
	}
}
