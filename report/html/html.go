// Package html renders the result of a study as one self-contained page, which needs no network. The words and
// numbers come from package report. Drawings are next to their tables, and a reader needs no script.
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

// Options are optional additions to the page of a result.
type Options struct {
	Explain func(check string) string // explains a check in a few sentences, or returns ""; may be nil
	Files   fs.FS                     // directory of the result document, for flame graphs; nil means that the page only names them
}

// Format returns the page as a format of package report. A file contains one result.
func Format(o Options) report.Format {
	return report.Format{
		Name:    "html",
		Summary: "one self-contained page: tables, drawings, filters and the result document itself",
		Write:   func(w io.Writer, r *tare.Result, _ report.Style) error { return Write(w, r, o) },
	}
}

// Write writes r as a page. It fails if r cannot be encoded as JSON, or if w fails.
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

// Style returns the style sheet of the page, for other pages with the same look.
func Style() string { return styleText() }

// Policy returns a content security policy for a page with only this style, this script, and images in data URLs.
// It has their hashes.
func Policy(style, script string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
}
