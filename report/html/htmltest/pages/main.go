// Command pages writes HTML reports for the test in a browser, of synthetic results and of the documents RESULT.
// The latter become DIR/given-01-NAME.html and so on.
//
//	go run ./report/html/htmltest/pages DIR [RESULT.json[.gz]…]
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report/html"
	"github.com/tarebench/tare/report/html/htmltest"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "pages: name a directory for the reports")
		os.Exit(2)
	}
	if err := writePages(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

// writePages writes a page per result into dir, and a page of all claims.
func writePages(dir string, documents []string) error {
	results := map[string]*tare.Result{
		"whole":     htmltest.Whole(),
		"bench":     htmltest.Bench(20),
		"one":       htmltest.Synthetic(6, 1, 12),
		"nothing":   {Schema: tare.ResultSchema, Study: "nothing", Question: "Was anything measured?"},
		"synthetic": htmltest.Synthetic(12, 12, 80),
	}
	measured := []html.Linked{{Result: results["whole"], Page: "whole.html"}, {Result: results["nothing"]}}
	for i, name := range documents {
		r, err := readResult(name)
		if err != nil {
			return err
		}
		stem, _, _ := strings.Cut(filepath.Base(name), ".")
		if stem == "result" { // document of a run
			stem = filepath.Base(r.Study)
		}
		page := fmt.Sprintf("given-%02d-%s", i+1, stem)
		results[page] = r
		measured = append(measured, html.Linked{Result: r, Page: page + ".html"})
	}
	for name, r := range results {
		err := writePage(filepath.Join(dir, name+".html"), func(w io.Writer) error {
			return html.Write(w, r, html.Options{Explain: func(check string) string { return "It looks at what " + check + " is named after." }})
		})
		if err != nil {
			return err
		}
	}
	return writePage(filepath.Join(dir, "claims.html"), func(w io.Writer) error {
		return html.WriteClaims(w, measured)
	})
}

func readResult(name string) (*tare.Result, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read a result: %w", err)
	}
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("uncompress %s: %w", name, err)
		}
		if text, err = io.ReadAll(z); err != nil {
			return nil, fmt.Errorf("uncompress %s: %w", name, err)
		}
	}
	var r tare.Result
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s is no result: %w", name, err)
	}
	return &r, nil
}

func writePage(name string, write func(io.Writer) error) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write a page: %w", err)
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	return write(f)
}
