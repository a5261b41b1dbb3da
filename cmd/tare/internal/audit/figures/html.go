package figures

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// This file reads HTML pages. It passes headings, paragraphs, tables and code to the reader, as if
// they were Markdown.

// isHTML reports whether a file with this start is an HTML page. A file that begins with an unknown
// tag may be Markdown.
func isHTML(start []byte) bool {
	start = bytes.ToLower(start)
	isXHTML := bytes.HasPrefix(start, []byte("<?xml")) && bytes.Contains(start, []byte("<html"))
	return isXHTML || bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html"))
}

// page reads an HTML page token by token and passes the content to the reader.
type page struct {
	*reader
	text      strings.Builder // the current block
	textLine  int             // its first line
	tokenLine int             // line of the current token
	inPre     bool            // within <pre>
	skip      atom.Atom       // an element such as script; 0 outside
	heading   int             // level, 1 to 6; 0 outside headings
	cells     []string        // of the current row
	inTable   bool
	hasHead   bool             // the row has a th after its first cell
	isAllHead bool             // the row has no td
	colSpan   int              // columns of the current cell
	rowSpan   int              // rows of the current cell
	spans     map[int]cellSpan // cells of earlier rows, by column
}

// cellSpan is a cell with the attribute rowspan. The next rows repeat its text.
type cellSpan struct {
	rows int // further rows
	text string
}

// maxSpan limits rowspan.
const maxSpan = 1000

// readHTML reads an HTML page, or a part of one whose first line has number line.
func (r *reader) readHTML(src io.Reader, line int) error {
	p := &page{reader: r, tokenLine: line}
	z := html.NewTokenizer(src)
	z.SetMaxBuf(maxLine)
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			p.endBlock()
			p.endTable()
			switch err := z.Err(); {
			case errors.Is(err, io.EOF):
				return nil
			case errors.Is(err, html.ErrBufferExceeded):
				return fmt.Errorf("%s:%d:1: a tag or text has more than %d bytes", r.doc.name, p.tokenLine, maxLine)
			default:
				return fmt.Errorf("%s: %w", r.doc.name, err)
			}
		}
		lines := bytes.Count(z.Raw(), []byte("\n"))
		if err := p.readToken(z, kind); err != nil {
			return err
		}
		p.tokenLine += lines
	}
}

// readToken reads one token. It returns an error if the text has a zero byte or the page exceeds a
// limit.
func (p *page) readToken(z *html.Tokenizer, kind html.TokenType) error {
	switch kind {
	case html.TextToken:
		text := z.Text()
		if isBinary(text) {
			return fmt.Errorf("%s:%d:1: not a text: it has a zero byte", p.doc.name, p.tokenLine)
		}
		if p.skip != 0 {
			return nil
		}
		if p.text.Len()+len(text) > 4*maxLine { // a page without tags
			p.endBlock()
		}
		if strings.TrimSpace(p.text.String()) == "" {
			p.text.Reset()
			p.textLine = p.tokenLine
		}
		p.text.Write(text)
	case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
		name, hasAttr := z.TagName()
		tag := atom.Lookup(name)
		p.readTag(tag, kind)
		if isCell := tag == atom.Td || tag == atom.Th; isCell && kind == html.StartTagToken {
			p.readSpans(z, hasAttr)
		}
	}
	return p.checkBounds()
}

// readSpans reads the attributes colspan and rowspan.
func (p *page) readSpans(z *html.Tokenizer, hasAttr bool) {
	p.colSpan, p.rowSpan = 1, 1
	for hasAttr {
		var key, value []byte
		key, value, hasAttr = z.TagAttr()
		n, err := strconv.Atoi(string(value))
		if err != nil || n < 1 {
			continue
		}
		switch string(key) {
		case "colspan":
			p.colSpan = min(n, maxCells)
		case "rowspan":
			p.rowSpan = min(n, maxSpan)
		}
	}
}

// addCell adds a cell to the current row, once for each of its columns. Cells of earlier rows that
// continue in this row come first.
func (p *page) addCell(text string) {
	p.addContinuedCells()
	for range p.colSpan {
		if len(p.cells) >= maxCells {
			return
		}
		if p.rowSpan > 1 {
			p.spans[len(p.cells)] = cellSpan{rows: p.rowSpan, text: text} // endRow subtracts this row
		}
		p.cells = append(p.cells, text)
	}
	p.colSpan, p.rowSpan = 1, 1
}

func (p *page) addContinuedCells() {
	for len(p.cells) < maxCells {
		span, ok := p.spans[len(p.cells)]
		if !ok {
			return
		}
		p.cells = append(p.cells, span.text)
	}
}

func (p *page) readTag(name atom.Atom, kind html.TokenType) {
	begins := kind != html.EndTagToken
	switch name {
	case atom.Script, atom.Style, atom.Svg, atom.Noscript:
		p.skip = 0
		if kind == html.StartTagToken {
			p.skip = name
		}
	case atom.Pre:
		p.endBlock()
		p.inPre = begins
		if !begins {
			p.outputs.finishReport()
		}
	case atom.Table:
		p.endBlock()
		p.endParagraph()
		p.inTable = begins
		if begins {
			p.table = &table{position: p.position}
			p.table.line = p.tokenLine
			p.spans = map[int]cellSpan{}
		}
	case atom.Tr:
		if begins {
			p.cells, p.hasHead, p.isAllHead = nil, false, true
		} else {
			p.endRow()
		}
		p.text.Reset()
	case atom.Caption:
		if !begins && p.table != nil {
			p.table.caption = strings.Join(strings.Fields(p.text.String()), " ")
		}
		p.text.Reset()
	case atom.Td, atom.Th:
		if begins {
			p.text.Reset()
			p.hasHead = p.hasHead || name == atom.Th && len(p.cells) > 0
			p.isAllHead = p.isAllHead && name == atom.Th
		} else if p.inTable && len(p.cells) < maxCells {
			p.addCell(strings.Join(strings.Fields(p.text.String()), " "))
			p.text.Reset()
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.endBlock()
		p.heading = 0
		if begins {
			p.heading = 1 + slices.Index([]atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}, name)
		}
	case atom.Br:
		if p.inPre {
			p.text.WriteByte('\n')
		} else {
			p.text.WriteByte(' ')
		}
	case atom.P, atom.Div, atom.Li, atom.Ul, atom.Ol, atom.Section, atom.Article, atom.Blockquote, atom.Body, atom.Main, atom.Figure, atom.Dd, atom.Dt:
		if !p.inTable {
			p.endBlock()
		}
	}
}

// endRow stores a row. It joins a second row of headers: "Time" above "old" becomes "old Time".
func (p *page) endRow() {
	if p.table == nil || len(p.cells) == 0 {
		return
	}
	p.addContinuedCells()
	for column, span := range p.spans {
		if span.rows--; span.rows > 0 {
			p.spans[column] = span
		} else {
			delete(p.spans, column)
		}
	}
	isFirst := len(p.table.rows) == 0
	isSecondHead := p.isAllHead && p.hasHead && len(p.table.header) > 0 && isFirst
	isHead := p.table.header == nil && isFirst && (p.hasHead || len(p.cells) > 1)
	switch {
	case isSecondHead:
		for i, upper := range p.table.header[:min(len(p.table.header), len(p.cells))] {
			if p.cells[i] != upper {
				p.table.header[i] = strings.TrimSpace(p.cells[i] + " " + upper)
			}
		}
	case isHead:
		p.table.header = p.cells
	case len(p.table.rows) < maxRows:
		p.table.rows = append(p.table.rows, tableRow{p.tokenLine, p.cells})
	}
	p.cells = nil
}

// endBlock stores the current block: code, a heading or a paragraph. Text in tables is stored by
// readTag.
func (p *page) endBlock() {
	text := p.text.String()
	p.text.Reset()
	if strings.TrimSpace(text) == "" {
		return
	}
	saved := p.line
	p.line = p.textLine
	switch {
	case p.inPre:
		for line := range strings.Lines(text) {
			p.readCode(strings.TrimSpace(line))
			p.line++
		}
	case p.heading > 0:
		p.setHeading(p.heading, strings.Join(strings.Fields(text), " "))
		p.endTitles()
	case !p.inTable:
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				p.addProse(line)
			}
			p.line++
		}
		p.endParagraph()
	}
	p.line = max(saved, p.line)
}
