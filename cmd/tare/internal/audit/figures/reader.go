package figures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Bounds of what is stored of one file. A file beyond them is refused, with the line.
const (
	maxLine      = 1 << 20 // bytes of a line
	maxBenches   = 200_000
	maxLoads     = 20_000
	maxTables    = 5_000
	maxSentences = 50_000
	maxStatement = 1000     // bytes; a longer sentence is none about figures
	maxProse     = 4 << 20  // bytes of prose; what follows is a log, of which only outputs are read
	maxParagraph = 16 << 10 // bytes; what follows is the next paragraph
)

// reader reads a text line by line: Markdown, the output of tools, or both.
type reader struct {
	doc     *document
	outputs outputs
	benches benches
	structs structs

	position           // of the line that is being read
	headings [6]string // by level
	fence    string    // that ends the block of code; "" outside of one
	table    *table
	header   []string // cells of the line before, if it may be the header of a table
	headerAt int
	text     []proseLine     // of the paragraph
	size     int             // bytes of it
	prose    int             // bytes of all paragraphs
	markup   strings.Builder // of a table in HTML
	markupAt int             // its line
	command  bool            // the last command goes on in the next line
	partial  map[string]string
}

// proseLine is a line of a paragraph.
type proseLine struct {
	line int
	text string
}

func newReader(name string) *reader {
	doc := &document{name: name}
	return &reader{
		doc: doc, outputs: outputs{doc: doc, latest: map[string]command{}}, benches: newBenches(doc),
		structs: structs{doc: doc, known: map[string]layout{}}, partial: map[string]string{},
	}
}

// readLine reads the next line of a text. The error is about a text with too much in it.
func (r *reader) readLine(text string) error {
	r.line++
	if strings.HasPrefix(text, `{"`) && strings.Contains(text, `"Action":`) {
		r.readEvent(text)
	} else {
		r.readText(text)
	}
	return r.checkBounds()
}

// checkBounds is an error if more was read than is stored of a file.
func (r *reader) checkBounds() error {
	d := r.doc
	for _, b := range []struct {
		n, max int
		noun   string
	}{{len(d.benches), maxBenches, "benchmarks"}, {len(d.loads), maxLoads, "reports of load generators"}, {len(d.tables), maxTables, "tables"}, {len(d.sentences), maxSentences, "statements"}, {len(d.stats), maxBenches, "rows of benchstat"}, {len(d.commands), maxSentences, "commands"}, {len(d.structs), maxTables, "structs"}} {
		if b.n > b.max {
			return fmt.Errorf("%s:%d:1: more than %d %s; split the file", d.name, r.line, b.max, b.noun)
		}
	}
	return nil
}

// readEvent reads an event of go test -json: what a package prints may come in parts of lines.
func (r *reader) readEvent(text string) {
	var e struct{ Action, Package, Output string }
	if json.Unmarshal([]byte(text), &e) != nil || e.Action != "output" {
		return
	}
	whole := r.partial[e.Package] + e.Output
	if !strings.HasSuffix(whole, "\n") && len(whole) < maxParagraph && len(r.partial) < 1000 {
		r.partial[e.Package] = whole
		return
	}
	delete(r.partial, e.Package)
	r.benches.pkg = e.Package
	for line := range strings.Lines(whole) {
		r.benches.read(r.position, strings.TrimSpace(line))
	}
}

// quoted matches the marks of a quotation in Markdown.
var quoted = regexp.MustCompile(`^\s{0,3}(?:> ?)+`)

// readText reads a line that is not an event.
func (r *reader) readText(text string) {
	raw := strings.TrimRight(text, " \t\r")
	if strings.HasPrefix(strings.TrimLeft(raw, " "), ">") {
		raw = quoted.ReplaceAllString(raw, "")
	}
	line := strings.TrimSpace(raw)
	if marker := findFence(line); r.fence != "" {
		if strings.HasPrefix(line, r.fence) && strings.Trim(line, r.fence[:1]) == "" {
			r.fence = ""
			r.structs.open = false
			r.outputs.finish()
			return
		}
		r.readCode(line)
		return
	} else if marker != "" {
		r.endParagraph()
		r.fence = marker
		return
	}
	if line == "" {
		r.endParagraph()
		r.benches.read(r.position, "")
		return
	}
	if r.readMarkup(line) {
		return
	}
	at := r.position
	if n := len(r.text); n > 0 && len(r.text[n-1].text) <= maxLabel {
		at.label = cleanLabel(r.text[n-1].text) // the line right before
	}
	if r.outputs.read(at, line) || r.benches.read(at, line) {
		r.endParagraph()
		return
	}
	if r.table == nil && len(r.text) == 0 && (strings.HasPrefix(raw, "    ") || strings.HasPrefix(raw, "\t")) && !listItem.MatchString(line) {
		r.readCode(line)
		return
	}
	r.readMarkdown(line)
}

// maxMarkup is the maximum size of a table in HTML within Markdown, in bytes. A longer one is prose.
const maxMarkup = 1 << 18

// readMarkup reports whether a line belongs to a table in HTML within Markdown, and reads the
// table at its end.
func (r *reader) readMarkup(line string) bool {
	if r.markup.Len() == 0 {
		if !strings.HasPrefix(line, "<table") {
			return false
		}
		r.endParagraph()
		r.markupAt = r.line
	}
	r.markup.WriteString(line)
	r.markup.WriteByte('\n')
	if strings.Contains(line, "</table>") || r.markup.Len() > maxMarkup {
		text := r.markup.String()
		r.markup.Reset()
		at := r.position
		_ = r.readHTML(strings.NewReader(text), r.markupAt) // bounds are checked after each line
		r.position = at
	}
	return true
}

// findFence returns the marks that begin a block of code, or "".
func findFence(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 && !strings.Contains(line[n:], "`") {
			return line[:n]
		}
	}
	return ""
}

// readCode reads a line of a block of code.
func (r *reader) readCode(line string) {
	if output, ok := strings.CutPrefix(line, "# "); ok && r.outputs.read(r.position, output) {
		return // a script with its output as comments
	}
	if r.outputs.read(r.position, line) || r.benches.read(r.position, line) {
		return
	}
	r.readCommand(line, true)
	r.structs.read(r.position, line)
	if cells := splitRow(line); len(cells) > 1 {
		r.readRow(line, cells)
		return
	}
	r.endTable()
}

var (
	atx      = regexp.MustCompile(`^(#{1,6})\s+(.*?)\s*#*$`)
	listItem = regexp.MustCompile(`^(?:[-*+•]|\d{1,3}[.)])\s+`)
	strong   = regexp.MustCompile(`^\*\*([^*]+)\*\*:?$`)
)

// readMarkdown reads a line of prose, a heading or a row of a table.
func (r *reader) readMarkdown(line string) {
	if m := atx.FindStringSubmatch(line); m != nil {
		r.setHeading(len(m[1]), cleanCell(m[2]))
		return
	}
	if len(r.text) == 1 && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "") && !strings.Contains(r.text[0].text, "|") {
		title, level := r.text[0].text, 2
		if line[0] == '=' {
			level = 1
		}
		r.text, r.size = nil, 0
		r.setHeading(level, cleanCell(title))
		return
	}
	if cells := splitRow(line); len(cells) > 1 && r.readRow(line, cells) {
		return
	}
	r.endTable()
	if listItem.MatchString(line) {
		r.endParagraph()
		line = listItem.ReplaceAllString(line, "")
	}
	if m := strong.FindStringSubmatch(line); m != nil {
		r.endParagraph()
		r.label = strings.Trim(m[1], ": ")
	}
	r.addProse(line)
}

// addProse adds a line to the paragraph.
func (r *reader) addProse(line string) {
	if r.prose += len(line); r.prose > maxProse {
		r.text, r.size = nil, 0
		return
	}
	if r.size += len(line); r.size > maxParagraph {
		r.endParagraph()
		r.size = len(line)
	}
	r.text = append(r.text, proseLine{r.line, line})
}

// setHeading begins a section of a level, 1 to 6.
func (r *reader) setHeading(level int, title string) {
	r.endParagraph()
	r.outputs.finish()
	if level == 1 {
		r.section++
	}
	r.headings[level-1] = title
	clear(r.headings[level:])
	r.path = strings.TrimSpace(strings.Join(r.headings[:], " "))
	r.heading, r.label = title, title
	r.addSentences([]proseLine{{r.line, title}})
}

// readRow reports whether the line is a row of a table, or may be its header. A header without
// a rule below it is prose.
func (r *reader) readRow(line string, cells []string) bool {
	switch {
	case r.table != nil:
		if isRule(cells) {
			return true
		}
		if len(r.table.rows) < maxRows {
			r.table.rows = append(r.table.rows, tableRow{r.line, cells})
		}
		return true
	case isRule(cells) && r.header != nil && r.headerAt == r.line-1:
		if n := len(r.text); n > 0 && r.text[n-1].line == r.headerAt {
			r.text = r.text[:n-1]
		}
		header := r.header
		r.endParagraph()
		r.table = &table{position: r.position, header: header}
		r.table.line = r.line - 1
		return true
	}
	r.header, r.headerAt = cells, r.line
	return false
}

// endTable stores the table that was read.
func (r *reader) endTable() {
	if r.table != nil && len(r.table.rows) > 0 {
		r.doc.tables = append(r.doc.tables, r.table)
	}
	r.table = nil
}

// endParagraph stores the sentences of the paragraph that was read.
func (r *reader) endParagraph() {
	r.endTable()
	if len(r.text) > 0 {
		r.addSentences(r.text)
		if text := r.text[len(r.text)-1].text; len(text) <= maxLabel {
			r.label = cleanLabel(text)
		}
	}
	r.text, r.size = nil, 0
}

// maxLabel is the maximum length in bytes of a line that names what is below it.
const maxLabel = 80

func cleanLabel(text string) string { return strings.Trim(cleanCell(text), ": ") }

// sentenceEnd matches the end of a sentence. 1.5 and e.g. are none.
var sentenceEnd = regexp.MustCompile(`[.!?][)"'*_]*\s+[A-Z*_"'(\x{1F300}-\x{1FAFF}]`)

// addSentences splits lines into sentences, and stores those that may be about figures.
func (r *reader) addSentences(lines []proseLine) {
	var whole strings.Builder
	starts := make([]int, len(lines))
	for i, l := range lines {
		starts[i] = whole.Len()
		whole.WriteString(l.text)
		whole.WriteByte('\n')
	}
	text, offset := whole.String(), 0
	add := func(end int) {
		from := offset + len(text[offset:end]) - len(strings.TrimLeft(text[offset:end], " \n"))
		n := 0
		for n+1 < len(starts) && starts[n+1] <= from {
			n++
		}
		one := strings.Join(strings.Fields(text[offset:end]), " ")
		if isStatement(one) {
			at := r.position
			at.line = lines[n].line
			r.doc.sentences = append(r.doc.sentences, sentence{at, strings.Clone(one)})
		}
		offset = end
	}
	for _, m := range sentenceEnd.FindAllStringIndex(text, -1) {
		add(m[0] + 1)
	}
	add(len(text))
	for _, l := range lines {
		at := r.position
		at.line = l.line
		saved := r.position
		r.position = at
		r.readCommand(l.text, false)
		r.position = saved
	}
}

// statement matches words of sentences that rules read; sentences with a digit are stored, too.
var statement = regexp.MustCompile(`(?i)statistic|constant|linear|quadratic|scal|regardless|slow\b|weakest|saturat|maxed|increas|grow|\bO\(|overhead|bottleneck|profil|without|target|goal|purely|solely|entirely|drop-in|identical|differ|slower|faster|significan|error|success|twice|half|repeat|median|average|runs\b`)

func isStatement(text string) bool {
	return len(text) <= maxStatement && text != "" && (strings.ContainsAny(text, "0123456789") || statement.MatchString(text))
}

// tools matches a command of a load generator, or one that starts a server or a request.
var tools = regexp.MustCompile("(?:^|[$#>%❯`;&|(] *|/|\\s)(wrk2?|ab|hey|oha|vegeta|k6|ghz|go test|curl|docker run)\\s+(-|https?:|run\\b|attack\\b|\\.)")

// readCommand stores the command in a line of code, or within `marks` of code in prose.
func (r *reader) readCommand(line string, code bool) {
	if r.command {
		last := &r.doc.commands[len(r.doc.commands)-1]
		last.text = strings.TrimSuffix(last.text, `\`) + " " + line
		r.command = strings.HasSuffix(line, `\`) && len(last.text) < 4096
		r.noteCommand(*last)
		return
	}
	if !code && !strings.Contains(line, "`") && !strings.HasPrefix(line, "$ ") {
		return
	}
	m := tools.FindStringSubmatchIndex(line)
	if m == nil {
		return
	}
	text := line[m[2]:]
	if !code {
		text, _, _ = strings.Cut(text, "`")
	}
	if len(text) > 4096 {
		text = text[:4096]
	}
	at := r.position
	c := command{at, strings.Clone(text)}
	r.doc.commands = append(r.doc.commands, c)
	r.command = code && strings.HasSuffix(text, `\`)
	r.noteCommand(c)
}

// noteCommand makes a command the latest of its tool.
func (r *reader) noteCommand(c command) {
	if fields := strings.Fields(c.text); len(fields) > 0 {
		r.outputs.latest[fields[0]] = c
	}
	if strings.HasPrefix(c.text, "docker run") {
		for _, tool := range []string{"ab", "wrk", "wrk2", "hey", "oha", "k6", "ghz"} {
			if strings.Contains(c.text, " "+tool+" -") {
				c.text = c.text[strings.Index(c.text, " "+tool+" -")+1:]
				r.outputs.latest[tool] = c
			}
		}
	}
}

// finish stores what the last lines began.
func (r *reader) finish() {
	r.endParagraph()
	r.outputs.finish()
}

// isBinary reports whether a line has a byte that no text has.
func isBinary(line []byte) bool { return bytes.IndexByte(line, 0) >= 0 }
