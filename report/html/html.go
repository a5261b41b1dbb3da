// Package html renders a result as one page: a file that contains everything it
// needs, opens from a disk and needs no network. Its words, numbers and order
// are those of package report; drawings are next to the tables that they draw, and
// all of the page can be read without its script.
package html

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"io/fs"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// Options are the additions of a page to the result. The zero value works.
type Options struct {
	Explain func(check string) string // explains a check in a few sentences; findings have no explanation if it is nil or returns ""
	Files   fs.FS                     // directory of the result document, for its flame graphs; if nil they are only named
}

// Format returns the page as a format of package report. A file holds one result.
func Format(o Options) report.Format {
	return report.Format{
		Name:    "html",
		Summary: "one self-contained page: tables, drawings, filters and the result document itself",
		Write:   func(w io.Writer, r *tare.Result, _ report.Style) error { return Write(w, r, o) },
	}
}

// Write writes r as a page. A result that cannot be written as a document is an error; all other errors are
// the writer's.
func Write(w io.Writer, r *tare.Result, o Options) error {
	document, err := embedResult(r)
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	t, err := template.New("page").Funcs(templateFuncs()).ParseFS(templates, "templates/*.html")
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	p := newPage(r, o, document)
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "page.html", p); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// Style returns the style of the pages, for other pages that should look like them.
func Style() string { return styleText() }

// Policy returns a content security policy that allows a page only its style and script, which it names by
// their hashes, and data URLs of images.
func Policy(style, script string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
}
