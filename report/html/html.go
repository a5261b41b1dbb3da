// Package html renders the result of a study as one self-contained page, which a browser
// can open from a disk without a network. The page has the words, numbers and order of
// package report. Drawings are next to the tables that they draw, and all of the page can
// be read without its script.
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

// Options are additions to the page of a result. All are optional.
type Options struct {
	Explain func(check string) string // returns an explanation of a check in a few sentences, or ""; may be nil
	Files   fs.FS                     // directory of the result document, to read flame graphs; if nil, the page only names them
}

// Format returns the page as a format of package report, of which a file contains one result.
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

// Style returns the style sheet of the page, for other pages that should look like it.
func Style() string { return styleText() }

// Policy returns a content security policy that only allows a page this style and this script, by their hashes, and
// images in data URLs.
func Policy(style, script string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
}
