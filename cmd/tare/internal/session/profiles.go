package session

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/profile"
	"github.com/tarebench/tare/internal/atomicfile"
)

const (
	topFunctions = 12 // functions of each profile or difference in a result
	gapFunctions = 25 // functions in the text file about a difference
)

// addProfiles adds summaries of the pprof profiles in dir to res. A profile shows which functions of a
// contender, a measured program, use processor time or memory; its field Of says which of them. addProfiles
// draws a flame graph next to each profile, and compares each contender with the baseline. For example,
// next to goccy.pprof it writes goccy.svg, and goccy.against-encoding-json.txt.
func addProfiles(dir string, res *tare.Result) error {
	sides := map[string]profile.Side{} // keys are contender, workload and kind
	key := func(contender string, p tare.Profile) string { return contender + "\n" + p.Workload + "\n" + p.Of }
	for i := range res.Profiles {
		p := &res.Profiles[i]
		doc, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p.File)))
		if err != nil {
			return fmt.Errorf("read the %s profile of %s: %w", p.Of, p.Contender, err)
		}
		prof, err := profile.Read(doc, p.Of)
		if err != nil {
			return fmt.Errorf("%s: %w", p.File, err)
		}
		prof.Describe(p, topFunctions)
		sides[key(p.Contender, *p)] = profile.Side{Name: p.Contender, Profile: prof, Ops: p.Ops}
		p.Flame = strings.TrimSuffix(p.File, ".pprof") + ".svg"
		title := fmt.Sprintf("%s on %s, %s", p.Contender, p.Workload, p.Of)
		if err := atomicfile.Write(atomicfile.System{}, filepath.Join(dir, filepath.FromSlash(p.Flame)), prof.Flame(title, p.Ops), 0o600); err != nil {
			return fmt.Errorf("keep a flame graph: %w", err)
		}
	}
	base := res.Baseline()
	for i, p := range res.Profiles {
		baseline, ok := sides[key(base, p)]
		if !ok || p.Contender == base {
			continue
		}
		var err error
		if res.Profiles[i].Gap, err = writeGap(dir, p, baseline, sides[key(p.Contender, p)]); err != nil {
			return err
		}
	}
	return nil
}

// writeGap compares a contender's profile with that of the baseline. It writes the functions that cause the
// difference to a text file next to p.File, and returns the topFunctions largest ones. It returns nil if a
// profile is empty.
func writeGap(dir string, p tare.Profile, baseline, contender profile.Side) (*tare.ProfileGap, error) {
	gap, err := profile.Compare(baseline, contender, gapFunctions)
	if err != nil {
		return nil, nil // an empty profile has no differences
	}
	var b strings.Builder
	if err := gap.WriteText(&b); err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(path.Base(p.File), ".pprof") + ".against-" + strings.ReplaceAll(baseline.Name, "/", "_") + ".txt"
	if err := atomicfile.Write(atomicfile.System{}, filepath.Join(dir, filepath.FromSlash(path.Dir(p.File)), name), []byte(b.String()), 0o600); err != nil {
		return nil, fmt.Errorf("keep a difference of profiles: %w", err)
	}
	return gap.Describe(topFunctions), nil
}
