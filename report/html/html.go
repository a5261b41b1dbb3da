// Package html renders a result as one page: a file that holds everything it
// needs, opens from a disk and asks no network. Its words, figures and order
// are those of package report; drawings stand beside the tables they draw, and
// whatever the page says can be read without its script.
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

// Options is what a page shows beside the result. The zero value works.
type Options struct {
	Explain func(check string) string // what a check looks at, in a few sentences; nil or empty: nothing is added to its findings
	Files   fs.FS                     // what lies beside the result document, for its flame graphs; nil: they are named only
}

// Format offers the page among the others of package report. A file holds one
// result.
func Format(o Options) report.Format {
	return report.Format{
		Name:    "html",
		Summary: "one self-contained page: tables, drawings, filters and the result document itself",
		Write:   func(w io.Writer, r *tare.Result, _ report.Style) error { return Write(w, r, o) },
	}
}

// Write writes r as a page. A result that cannot be written as a document
// cannot be a page either; all other errors are the writer's.
func Write(w io.Writer, r *tare.Result, o Options) error {
	document, err := held(r)
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	t, err := template.New("page").Funcs(functions()).ParseFS(templates, "templates/*.html")
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

// Style is the style of the pages, for others that are to look like them.
func Style() string { return styleText() }

// Policy forbids a page everything but its own style and script, which are
// named by their hashes, and pictures it holds itself.
func Policy(style, script string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
}
