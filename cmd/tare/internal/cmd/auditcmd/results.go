package auditcmd

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/figures"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/format"
)

const stdin = "-"

// readResult adds the findings about a file of measured values to d. If path is -, it reads in,
// which is stdin. A file without measured values is a usage error.
func readResult(files *figures.Files, path string, in io.Reader, d *audit.Document) error {
	if path != stdin {
		f, err := os.Open(path)
		if err != nil {
			return cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", path, cmdenv.Cause(err)), "name a file or a directory")
		}
		defer f.Close()
		in = f
	}
	res, err := files.Read(path, in)
	if err != nil {
		return cmdenv.Usage(format.Line(err.Error(), 0), "")
	}
	if len(res.Recognised) == 0 {
		return cmdenv.Usage(path+" has no figures: no output of go test -bench or benchstat, no report of a load generator, no table", "name such a file, a Go file, a directory, or - for standard input")
	}
	d.Read = append(d.Read, strings.Join(res.Recognised, ", "))
	d.Findings = append(d.Findings, res.Findings...)
	return nil
}

func isPage(name string) bool {
	return slices.Contains([]string{".md", ".markdown", ".html", ".htm", ".txt", ".log", ".out"}, strings.ToLower(filepath.Ext(name)))
}

// readPages adds the findings about pages and texts below dir to d. An unreadable file gets a note, as
// the user did not name it.
func readPages(files *figures.Files, dir string, d *audit.Document) error {
	pages, recognised := 0, 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := e.Name(); {
		case e.IsDir():
			isSkipped := slices.Contains([]string{"testdata", "vendor", "node_modules"}, name) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
			if isSkipped && path != dir {
				return fs.SkipDir
			}
			return nil
		case !e.Type().IsRegular() || !isPage(name):
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			d.Notes = append(d.Notes, cmdenv.Cause(err).Error())
			return nil
		}
		defer f.Close()
		pages++
		res, err := files.Read(path, f)
		if err != nil {
			d.Notes = append(d.Notes, format.Line(err.Error(), 0))
			return nil
		}
		if len(res.Recognised) > 0 {
			recognised++
		}
		for _, finding := range res.Findings {
			finding.File = shortPath(finding.File)
			d.Findings = append(d.Findings, finding)
		}
		return nil
	})
	if err != nil {
		return cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", dir, cmdenv.Cause(err)), "")
	}
	if recognised > 0 {
		d.Read = append(d.Read, fmt.Sprintf("figures in %d of %s", recognised, format.Count(pages, "page")))
	}
	return nil
}
