package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare"
	bring "github.com/tarebench/tare/cmd/tare/internal/bring/routes"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/internal/build"
)

// RoutesStudy puts the routes into the cache, where the study can be carried
// out again, and makes the study.
func (w *Session) RoutesStudy(doc *bring.Document) (cmdenv.Study, []tare.NotWeighed, error) {
	all, err := cmdenv.FindCatalog(w.Options.Catalog, w.Dirs.Cache)
	if err != nil {
		return cmdenv.Study{}, nil, err
	}
	text := doc.Table.List()
	sum := sha256.Sum256([]byte(text))
	dir := filepath.Join(w.Dirs.Cache, "routes", hex.EncodeToString(sum[:10]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cmdenv.Study{}, nil, fmt.Errorf("%w %s: %w", build.ErrCache, dir, cmdenv.Cause(err))
	}
	list, err := cmdenv.OpenOutput(filepath.Join(dir, doc.ListName()))
	if err != nil {
		return cmdenv.Study{}, nil, err
	}
	defer list.Close()
	if err := list.Save(func(f io.Writer) error { _, err := io.WriteString(f, text); return err }); err != nil {
		return cmdenv.Study{}, nil, err
	}
	source, left := doc.Study(all.Leaves())
	study, err := cmdenv.ParseStudy(filepath.Join(dir, bring.StudyID+".yaml"), []byte(source))
	return study, left, err
}

// First is the first of the recommendations: the answer of the result.
func First(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return fixture.Legible([]byte(lines[0]))
}

// Recommend prints what to take.
func (w *Session) Recommend(lines []string) {
	st := w.Style(w.Out)
	heading, item := cmdenv.Paint(st.Bold, "RECOMMENDATION"), "  "
	if w.Options.Format.Name == "md" {
		heading, item = "## Recommendation\n", "- "
	}
	fmt.Fprintf(w.Out, "\n%s\n", heading)
	for _, line := range lines {
		parts := []string{fixture.Legible([]byte(line))}
		if w.Options.Format.Name == "text" {
			parts = cmdenv.Wrap(parts[0], st.Width-len(item)-2)
		}
		fmt.Fprintln(w.Out, item+strings.Join(parts, "\n"+item+"  "))
	}
}
