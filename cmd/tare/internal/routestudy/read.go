// Package routestudy makes a study that measures every router on the user's routes. It reads the routes
// from an OpenAPI document or a list, and recommends a router by the result.
package routestudy

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/openapi"
	"github.com/tarebench/tare/kinds/router"
)

// MostBytes limits the bytes of a document or list.
const MostBytes = max(openapi.MaxBytes, router.MostList)

// Document contains the routes of a file.
type Document struct {
	Name   string       // file name for messages
	Format string       // e.g. OpenAPI 3.1.0; "" for a list of routes
	Base   string       // path of the server, with which every path of the document begins; may be ""
	Table  router.Table // the routes
	Notes  []string     // remarks on the document, a line each; Table.Left has the skipped routes
}

// Error reports a fault in a document, with its position.
type Error struct{ What string }

// Error is one line: file:line:col: the fault, and how to correct it.
func (e *Error) Error() string { return e.What }

// Read reads an OpenAPI document, in YAML or JSON, or a list of routes. The error is an *[Error].
func Read(name string, src []byte) (*Document, error) {
	d := &Document{Name: name}
	var written []router.Written
	var err error
	if isList(name, src) {
		written, err = router.ReadList(name, src)
	} else {
		written, err = d.readOpenAPI(src)
	}
	if err != nil {
		return nil, &Error{What: err.Error()}
	}
	d.Table = router.NewTable(written)
	switch n := len(d.Table.Routes); {
	case n == 0 && len(d.Table.Left) > 0:
		return nil, &Error{fmt.Sprintf("%s; nothing is left to be measured", d.describeLeft(d.Table.Left[0]))}
	case n > router.MostRoutes:
		return nil, &Error{fmt.Sprintf("%s: %d routes; a table has at most %d", name, n, router.MostRoutes)}
	}
	return d, nil
}

func (d *Document) readOpenAPI(src []byte) (list []router.Written, err error) {
	doc, err := openapi.Read(d.Name, src)
	if err != nil {
		return nil, err
	}
	d.Format, d.Base, d.Notes = doc.Format, doc.Base, doc.Notes
	for i, l := range doc.Skipped {
		why := fmt.Sprintf("%s:%d:%d: %s: %s", d.Name, l.Line, l.Col, l.Path, l.Why)
		if len(doc.Operations) == 0 {
			return nil, &Error{why + "; nothing is left to be measured"}
		}
		if i == maxSkipped {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: %d more paths are left out", d.Name, len(doc.Skipped)-i))
			break
		}
		d.Notes = append(d.Notes, why+"; left out")
	}
	for _, op := range doc.Operations {
		list = append(list, router.Written{Method: op.Method, Path: op.Path, Line: op.Line, Col: op.Col})
	}
	return list, nil
}

// isList reports whether a file is a list of routes. It is a .txt, or begins with a method and a path.
func isList(name string, src []byte) bool {
	if strings.EqualFold(filepath.Ext(name), ".txt") && !openapi.IsDocument(src, false) {
		return true
	}
	for line := range bytes.Lines(bytes.TrimPrefix(src, []byte("\ufeff"))) {
		words := strings.Fields(string(line))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		isMethod := strings.Trim(strings.ToUpper(words[0]), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" // only letters
		return isMethod && len(words) > 1 && strings.HasPrefix(words[1], "/")
	}
	return false
}

func (d *Document) position(w router.Written) string {
	return fmt.Sprintf("%s:%d:%d", d.Name, w.Line, w.Col)
}

func (d *Document) describeLeft(l router.Left) string {
	return fmt.Sprintf("%s: %s: %s", d.position(l.Written), l, l.Why)
}

// maxSkipped limits the skipped routes that are named.
const maxSkipped = 10

// Remarks returns the notes, the skipped routes, and the properties that some routers do not support, a
// line each.
func (d *Document) Remarks() []string {
	out := append([]string(nil), d.Notes...)
	for i, l := range d.Table.Left {
		if i == maxSkipped {
			out = append(out, fmt.Sprintf("%s: %d more routes are omitted", d.Name, len(d.Table.Left)-i))
			break
		}
		out = append(out, d.describeLeft(l)+"; left out")
	}
	if n, i := d.Table.Renamed(); n > 0 {
		more := ""
		if n > 1 {
			more = fmt.Sprintf(" (and %d more so)", n-1)
		}
		out = append(out, fmt.Sprintf("%s: %s names a parameter otherwise than another route of the same place does%s, which several routers refuse; all are asked for one name, here %s",
			d.position(d.Table.From[i]), d.Table.From[i], more, d.Table.Routes[i].Path))
	}
	if n, i := d.Table.Parts(); n > 0 {
		more := ""
		if n > 1 {
			more = fmt.Sprintf(" (and %d more %s)", n-1, map[bool]string{true: "has", false: "have"}[n == 2])
		}
		return append(out, fmt.Sprintf("%s: %s has a parameter that is a part of a segment%s: the routers that can have such a table are measured on it, %s is the baseline, and the others are void and say so; --whole-segments leaves such routes out and measures all",
			d.position(d.Table.From[i]), d.Table.From[i], more, secondBaseline))
	}
	if i, k, found := d.Table.Ambiguous(); found {
		first, other := d.Table.From[i], d.Table.From[k]
		out = append(out, fmt.Sprintf("%s: %s and %s (%s) both match some paths, and neither is more specific: net/http cannot have both, and %s is the baseline instead",
			d.position(first), first, other, d.position(other), secondBaseline))
	}
	return out
}

// LeaveParts removes the routes with a parameter that is a part of a segment. It returns false if no
// route remains.
func (d *Document) LeaveParts() bool {
	d.Table = d.Table.Whole()
	return len(d.Table.Routes) > 0
}
