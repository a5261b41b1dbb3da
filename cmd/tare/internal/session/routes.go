package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/routestudy"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/build"
)

// RoutesStudy returns a study of routers with the user's table of routes, doc. It also returns the routers
// that it skips, with reasons. The cache has the table for later runs.
func (w *Session) RoutesStudy(doc *routestudy.Document) (cmdenv.Study, []tare.NotWeighed, error) {
	all, err := w.FindCatalog(w.Options.Catalog)
	if err != nil {
		return cmdenv.Study{}, nil, err
	}
	study, skipped, err := NewRoutesStudy(all, w.Dirs, doc)
	if err != nil {
		return study, nil, err
	}
	return study, skipped, SaveRoutes(study, doc)
}

// SaveRoutes writes the routes of a document into the directory of its study.
func SaveRoutes(study cmdenv.Study, doc *routestudy.Document) error {
	if err := atomicfile.MakeDir(study.Dir, 0o755); err != nil {
		return fmt.Errorf("%w %s: %w", build.ErrCache, study.Dir, cmdenv.Cause(err))
	}
	return cmdenv.SaveFile(atomicfile.System{}, filepath.Join(study.Dir, doc.ListName()), 0o644, func(f io.Writer) error {
		_, err := io.WriteString(f, doc.Table.List())
		return err
	})
}

// NewRoutesStudy returns the same study and skipped routers as RoutesStudy, but writes no files.
func NewRoutesStudy(all catalog.Catalog, d cmdenv.Dirs, doc *routestudy.Document) (cmdenv.Study, []tare.NotWeighed, error) {
	routers, skipped := doc.Routers(all.Leaves())
	study, err := parseRoutesStudy(d, doc, doc.Study(routers))
	return study, skipped, err
}

// NewRoutesReleases returns a study of routers that are built with several toolchains. It writes no files.
func NewRoutesReleases(d cmdenv.Dirs, doc *routestudy.Document, r routestudy.Releases) (cmdenv.Study, error) {
	study, err := parseRoutesStudy(d, doc, doc.ReleaseStudy(r))
	r.SetToolchains(study.Contenders)
	return study, err
}

// parseRoutesStudy gives the study a directory that depends only on the table.
func parseRoutesStudy(d cmdenv.Dirs, doc *routestudy.Document, source string) (cmdenv.Study, error) {
	sum := sha256.Sum256([]byte(doc.Table.List()))
	dir := filepath.Join(d.Cache, "routes", hex.EncodeToString(sum[:10]))
	study, err := cmdenv.ParseStudy(filepath.Join(dir, routestudy.StudyID+".yaml"), []byte(source))
	study.Borrowed = true
	return study, err
}
