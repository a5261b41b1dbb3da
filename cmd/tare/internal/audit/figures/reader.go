package figures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file reads a text, such as a README or a log, line by line. For example, a line with | is a
// row of a table, and a line "$ wrk -c10" a command.

// Exceeding these bounds is an error, unless a remark says otherwise.
const (
	maxLine      = 1 << 20 // bytes
	maxBenches   = 200_000
	maxReports   = 20_000
	maxTables    = 2_000
	maxSentences = 50_000
	maxStatement = 1000      // bytes of a sentence; longer ones are not stored
	maxProse     = 512 << 10 // bytes; a file with more prose is a log, and the rest is ignored
	maxParagraph = 16 << 10  // bytes; longer paragraphs are split
	maxCommand   = 4096      // bytes; the rest is cut off
	maxPartial   = 1000      // packages with an incomplete line of go test -json
)

// reader reads a text line by line: Markdown, the output of tools, or both. outputs, benches and
// structs recognize their lines. Other lines are prose, headings and tables.
type reader struct {
	doc     *document
	outputs outputs
	benches benches
	structs structReader

	position                     // of the current line
	headings           [6]string // by level, 1 to 6 at index 0 to 5
	fence              string    // end of the code block, e.g. ```; "" outside
	table              *table    // nil outside tables
	possibleHeader     []string  // cells of the last line
	possibleHeaderLine int
	paragraph          []proseLine
	titles             []proseLine // consecutive headings of level 1
	paragraphBytes     int
	proseBytes         int
	markup             strings.Builder   // an HTML table in Markdown
	markupLine         int               // its first line
	commandContinues   bool              // in the next line
	partialLines       map[string]string // incomplete output of go test -json, by package
}

type proseLine struct {
	line int
	text string
}

func newReader(name string) *reader {
	doc := &document{name: name}
	return &reader{
		doc:          doc,
		outputs:      outputs{doc: doc, lastCommands: map[string]command{}},
		benches:      newBenches(doc),
		structs:      structReader{doc: doc, known: map[string]layout{}},
		partialLines: map[string]string{},
	}
}

// readLine reads the next line of a text. It returns an error if the file exceeds a bound.
func (r *reader) readLine(text string) error {
	r.line++
	if strings.HasPrefix(text, `{"`) && strings.Contains(text, `"Action":`) {
		r.readEvent(text)
	} else {
		r.readText(text)
	}
	return r.checkBounds()
}

func (r *reader) checkBounds() error {
	d := r.doc
	for _, b := range []struct {
		count, max int
		noun       string
	}{
		{len(d.benches), maxBenches, "benchmarks"},
		{len(d.reports), maxReports, "reports of load generators"},
		{len(d.tables), maxTables, "tables"},
		{len(d.sentences), maxSentences, "statements"},
		{len(d.statRows), maxBenches, "rows of benchstat"},
		{len(d.commands), maxSentences, "commands"},
		{len(d.structs), maxTables, "structs"},
	} {
		if b.count > b.max {
			return fmt.Errorf("%s:%d:1: more than %d %s; split the file", d.name, r.line, b.max, b.noun)
		}
	}
	return nil
}

// readEvent reads an event of go test -json: {"Action":"output","Package":"…","Output":"…"}. A line
// of output may be split into several events.
func (r *reader) readEvent(text string) {
	var e struct{ Action, Package, Output string }
	if json.Unmarshal([]byte(text), &e) != nil || e.Action != "output" {
		return
	}
	output := r.partialLines[e.Package] + e.Output
	isIncomplete := !strings.HasSuffix(output, "\n")
	if isIncomplete && len(output) < maxParagraph && len(r.partialLines) < maxPartial {
		r.partialLines[e.Package] = output
		return
	}
	delete(r.partialLines, e.Package)
	r.benches.pkg = e.Package
	for line := range strings.Lines(output) {
		r.benches.readLine(r.position, strings.TrimSpace(line))
	}
}

var quoteMarksRE = lazyregexp.New(`^\s{0,3}(?:> ?)+`)

func (r *reader) readText(text string) {
	raw := strings.TrimRight(text, " \t\r")
	if strings.HasPrefix(strings.TrimLeft(raw, " "), ">") {
		raw = quoteMarksRE.ReplaceAllString(raw, "")
	}
	line := strings.TrimSpace(raw)
	if !strings.HasPrefix(line, "# ") {
		r.endTitles()
	}
	if r.readFenced(line) {
		return
	}
	if line == "" {
		r.endParagraph()
		r.benches.readLine(r.position, "")
		return
	}
	if r.readMarkup(line) {
		return
	}
	pos := r.position
	if n := len(r.paragraph); n > 0 && len(r.paragraph[n-1].text) <= maxLabel {
		pos.label = cleanLabel(r.paragraph[n-1].text) // the line before is not stored yet
	}
	if r.outputs.readLine(pos, line) || r.benches.readLine(pos, line) {
		r.endParagraph()
		return
	}
	isIndented := strings.HasPrefix(raw, "    ") || strings.HasPrefix(raw, "\t")
	if isIndented && r.table == nil && len(r.paragraph) == 0 && !listItemRE.MatchString(line) {
		r.readCode(line) // an indented block of code
		return
	}
	r.readMarkdown(line)
}

// readFenced reads a line of a block of code between marks such as "```". It returns false for other
// lines.
func (r *reader) readFenced(line string) bool {
	marker := findFence(line)
	switch {
	case r.fence == "" && marker == "":
		return false
	case r.fence == "":
		r.endParagraph()
		r.fence = marker
	case strings.HasPrefix(line, r.fence) && strings.Trim(line, r.fence[:1]) == "":
		r.fence = ""
		r.structs.inStruct = false
		r.outputs.finishReport()
	default:
		r.readCode(line)
	}
	return true
}

// maxMarkup limits the bytes of an HTML table in Markdown. The rest is read as text.
const maxMarkup = 1 << 18

// readMarkup collects the lines of an HTML table in Markdown, and reads the table at its end. It
// returns true for a line of a table.
func (r *reader) readMarkup(line string) bool {
	if r.markup.Len() == 0 {
		if !strings.HasPrefix(line, "<table") {
			return false
		}
		r.endParagraph()
		r.markupLine = r.line
	}
	r.markup.WriteString(line)
	r.markup.WriteByte('\n')
	if strings.Contains(line, "</table>") || r.markup.Len() > maxMarkup {
		text := r.markup.String()
		r.markup.Reset()
		pos := r.position
		_ = r.readHTML(strings.NewReader(text), r.markupLine)
		r.position = pos
	}
	return true
}

// findFence returns the start of a block of code, such as "```", or "".
func findFence(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 && !strings.Contains(line[n:], "`") {
			return line[:n]
		}
	}
	return ""
}

func (r *reader) readCode(line string) {
	if output, ok := strings.CutPrefix(line, "# "); ok && r.outputs.readLine(r.position, output) {
		return // output in a comment of a script
	}
	if r.outputs.readLine(r.position, line) || r.benches.readLine(r.position, line) {
		return
	}
	r.readCommand(line, true)
	r.structs.readLine(r.position, line)
	if cells := splitRow(line); len(cells) > 1 {
		r.readRow(line, cells)
		return
	}
	r.endTable()
}

// The groups of "## Title ##" are "##" and "Title".
var (
	headingLineRE = lazyregexp.New(`^(#{1,6})\s+(.*?)\s*#*$`)
	listItemRE    = lazyregexp.New(`^(?:[-*+•]|\d{1,3}[.)])\s+`)
	boldLineRE    = lazyregexp.New(`^\*\*([^*]+)\*\*:?$`)
)

func (r *reader) readMarkdown(line string) {
	if m := headingLineRE.FindStringSubmatch(line); m != nil {
		r.setHeading(len(m[1]), cleanCell(m[2]))
		return
	}
	isUnderline := strings.Trim(line, "=") == "" || strings.Trim(line, "-") == ""
	if isUnderline && len(r.paragraph) == 1 && !strings.Contains(r.paragraph[0].text, "|") {
		title, level := r.paragraph[0].text, 2
		if line[0] == '=' {
			level = 1
		}
		r.paragraph, r.paragraphBytes = nil, 0
		r.setHeading(level, cleanCell(title))
		return
	}
	if cells := splitRow(line); len(cells) > 1 && r.readRow(line, cells) {
		return
	}
	r.endTable()
	if mark := strings.TrimSpace(listItemRE.FindString(line)); mark != "" {
		r.endParagraph()
		line = listItemRE.ReplaceAllString(line, "")
		number := strings.TrimRight(mark, ".)")
		isNumbered := number != mark
		if number == "1" {
			r.list, r.item = r.line, r.line
		} else if isNumbered {
			r.item = r.line
		}
	}
	if m := boldLineRE.FindStringSubmatch(line); m != nil {
		r.endParagraph()
		r.label = strings.Trim(m[1], ": ")
	}
	r.addProse(line)
}

// addProse adds a line to the current paragraph.
func (r *reader) addProse(line string) {
	if r.proseBytes += len(line); r.proseBytes > maxProse {
		r.paragraph, r.paragraphBytes = nil, 0
		return
	}
	if r.paragraphBytes += len(line); r.paragraphBytes > maxParagraph {
		r.endParagraph()
		r.paragraphBytes = len(line)
	}
	r.paragraph = append(r.paragraph, proseLine{r.line, line})
}

// endTitles stores the sentences of the collected headings as one paragraph. Several lines with "# "
// may be a comment whose sentences continue from line to line.
func (r *reader) endTitles() {
	r.addSentences(r.titles)
	r.titles = nil
}

// setHeading begins a section of a level, 1 to 6. It also stores the title as a sentence.
func (r *reader) setHeading(level int, title string) {
	r.endParagraph()
	r.outputs.finishReport()
	if level == 1 {
		r.section++
	}
	r.headings[level-1] = title
	clear(r.headings[level:])
	r.path = strings.TrimSpace(strings.Join(r.headings[:], " "))
	r.heading, r.label = title, title
	r.list, r.item = 0, 0
	if n := len(r.titles); n > 0 && (level > 1 || r.titles[n-1].line != r.line-1) {
		r.endTitles()
	}
	r.titles = append(r.titles, proseLine{r.line, title})
	if level > 1 || len(r.titles) > maxTitles {
		r.endTitles()
	}
}

// readRow adds the cells of a line to the current table and returns true. Outside a table it stores
// the cells as a possible header and returns false. A row such as |---|---| then begins a table.
func (r *reader) readRow(line string, cells []string) bool {
	switch {
	case r.table != nil:
		if isDelimiterRow(cells) {
			return true
		}
		if len(r.table.rows) < maxRows {
			r.table.rows = append(r.table.rows, tableRow{r.line, cells})
		}
		return true
	case isDelimiterRow(cells) && r.possibleHeader != nil && r.possibleHeaderLine == r.line-1:
		if n := len(r.paragraph); n > 0 && r.paragraph[n-1].line == r.possibleHeaderLine {
			r.paragraph = r.paragraph[:n-1]
		}
		header := r.possibleHeader
		r.endParagraph()
		r.table = &table{position: r.position, header: header}
		r.table.line = r.line - 1
		return true
	}
	r.possibleHeader, r.possibleHeaderLine = cells, r.line
	return false
}

func (r *reader) endTable() {
	if r.table != nil && len(r.table.rows) > 0 {
		r.doc.tables = append(r.doc.tables, r.table)
	}
	r.table = nil
}

func (r *reader) endParagraph() {
	r.endTable()
	if len(r.paragraph) > 0 {
		r.addSentences(r.paragraph)
		if text := r.paragraph[len(r.paragraph)-1].text; len(text) <= maxLabel {
			r.label = cleanLabel(text)
		}
	}
	r.paragraph, r.paragraphBytes = nil, 0
}

// maxTitles limits the headings that are read as one comment.
const maxTitles = 100

// maxLabel is the maximum length in bytes of a line that names the output or the table below it.
const maxLabel = 80

// cleanLabel removes marks of Markdown and a final colon.
func cleanLabel(text string) string { return strings.Trim(cleanCell(text), ": ") }

// sentenceEndRE matches the end of a sentence, but not the points of 1.5 and e.g.
var sentenceEndRE = lazyregexp.New(`[.!?][)"'*_]*\s+[A-Z*_"'(\x60\x{1F300}-\x{1FAFF}]`)

// addSentences stores the sentences of a paragraph that may be about figures.
func (r *reader) addSentences(lines []proseLine) {
	var paragraph strings.Builder
	lineOffsets := make([]int, len(lines)) // offset of each line in the paragraph
	for i, l := range lines {
		lineOffsets[i] = paragraph.Len()
		paragraph.WriteString(l.text)
		paragraph.WriteByte('\n')
	}
	text := paragraph.String()
	start, previous := 0, "" // the next sentence and the one before
	// add stores the sentence from start to end.
	add := func(end int) {
		first := end - len(strings.TrimLeft(text[start:end], " \n")) // offset of its first character
		n := 0                                                       // index of its first line
		for n+1 < len(lineOffsets) && lineOffsets[n+1] <= first {
			n++
		}
		joined := strings.Join(strings.Fields(text[start:end]), " ")
		if isStatement(joined) {
			s := sentence{position: r.position, text: strings.Clone(joined)}
			if s.line = lines[n].line; backReferenceRE.MatchString(joined) {
				s.previous = strings.Clone(previous)
			}
			for n++; n < len(lineOffsets) && lineOffsets[n] < end; n++ {
				before := strings.Join(strings.Fields(text[start:lineOffsets[n]]), " ")
				s.starts = append(s.starts, lineStart{offset: len(before), line: lines[n].line})
			}
			r.doc.sentences = append(r.doc.sentences, s)
		}
		start, previous = end, joined
	}
	for _, m := range sentenceEndRE.FindAllStringIndex(text, -1) {
		add(m[0] + 1)
	}
	add(len(text))
	current := r.line
	for _, l := range lines {
		r.line = l.line
		r.readCommand(l.text, false)
	}
	r.line = current
}

// statementWordsRE matches words of interesting sentences without digits.
var statementWordsRE = lazyregexp.New(`(?i)statistic|constant|linear|quadratic|scal|regardless` +
	`|slow\b|slowly|quickly|slowest|fastest|quickest|lowest|smallest|shortest|beats|outperform|outpace|exceed|profit|doubt|(?:a|per|each) second|lower|higher|limit|criteri|weakest|saturat|maxed|increas|grow|\bO\(|overhead|bottleneck|profil` +
	`|without|target|goal|purely|solely|entirely|drop-in|identical|differ|slower|faster` +
	`|significan|error|success|twice|half|repeat|median|average|runs\b|third|quarter` +
	`|fifth|sixth|seventh|eighth|ninth|tenth|double|thrice|halv|tripl|magnitude|cop(?:y|ies)\b|clone|longer|shorter|reliab|consisten` +
	`|worst|highest|largest|maximum|improv|gain|benefit|memory|alloc|\btimes\b|quicker|\bmean\b|\breturns?\b|\bfresh\b`)

func isStatement(text string) bool {
	return len(text) <= maxStatement && text != "" && (strings.ContainsAny(text, "0123456789") || statementWordsRE.MatchString(text))
}

// toolCommandRE matches "$ wrk -c10". The groups are the tool and the start of its arguments.
var toolCommandRE = lazyregexp.New("(?:^|[$#>%❯`;&|(] *|/|\\s)(wrk2?|ab|hey|oha|vegeta|k6|ghz|go test|curl|docker run)\\s+(-|https?:|run\\b|attack\\b|\\.)")

const maxTimeouts = 20

// readCommand stores the command in a line. In prose a command has backquotes or a prompt.
func (r *reader) readCommand(line string, inCode bool) {
	if r.commandContinues {
		last := &r.doc.commands[len(r.doc.commands)-1]
		last.text = strings.TrimSuffix(last.text, `\`) + " " + line
		r.commandContinues = strings.HasSuffix(line, `\`) && len(last.text) < maxCommand
		r.setLastCommand(*last)
		return
	}
	if !inCode && !strings.Contains(line, "`") && !strings.HasPrefix(line, "$ ") {
		return
	}
	if m := scriptTimeoutRE.FindStringSubmatch(line); m != nil && len(r.doc.timeouts) < maxTimeouts {
		r.doc.timeouts = appendTimeout(r.doc.timeouts, r.line, strings.Clone(m[0]), m[1])
	}
	m := toolCommandRE.FindStringSubmatchIndex(line)
	if m == nil {
		return
	}
	text := line[m[2]:]
	if !inCode {
		text, _, _ = strings.Cut(text, "`")
	}
	if len(text) > maxCommand {
		text = text[:maxCommand]
	}
	c := command{position: r.position, text: strings.Clone(text)}
	r.doc.commands = append(r.doc.commands, c)
	r.commandContinues = inCode && strings.HasSuffix(text, `\`)
	r.setLastCommand(c)
}

// setLastCommand stores a command as the last one of its tool. The tool is the first word, or a load
// generator that docker run starts.
func (r *reader) setLastCommand(c command) {
	if fields := strings.Fields(c.text); len(fields) > 0 {
		r.outputs.lastCommands[fields[0]] = c
	}
	if strings.HasPrefix(c.text, "docker run") {
		for _, tool := range []string{"ab", "wrk", "wrk2", "hey", "oha", "k6", "ghz"} {
			if i := strings.Index(c.text, " "+tool+" -"); i >= 0 {
				c.text = c.text[i+1:]
				r.outputs.lastCommands[tool] = c
			}
		}
	}
}

func (r *reader) finishFile() {
	r.endTitles()
	r.endParagraph()
	r.outputs.finishReport()
}

// isBinary reports whether a line has a zero byte.
func isBinary(line []byte) bool { return bytes.IndexByte(line, 0) >= 0 }
