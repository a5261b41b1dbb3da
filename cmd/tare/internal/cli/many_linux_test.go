package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab/journal"
)

// Ten tares at once, with one data and one cache directory, keep ten results, each in
// a directory of its own, and the history of them agrees. Ten that resume one run
// leave it whole.
func TestTenAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("starts thirty processes")
	}
	const many = 10
	s := newScripted(t)
	s.seedSQLite()
	together := func(args func(i int) []string) (codes [many]int, errs [many]string) {
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() { codes[i], _, errs[i] = s.output("", args(i)...) })
		}
		all.Wait()
		return codes, errs
	}
	codes, errs := together(func(i int) []string {
		return []string{"run", "--quiet", "json", "--rounds", "2", "--seed", fmt.Sprint(i + 1)}
	})
	for i := range many {
		if codes[i] != 0 {
			t.Errorf("tare %d: exit code %d: %s", i, codes[i], errs[i])
		}
	}
	results, err := filepath.Glob(filepath.Join(s.data(), "results", "json", "*", "result.json"))
	if err != nil || len(results) != many || s.whole("ten at once") != many {
		t.Fatalf("%d results, %v", len(results), err)
	}
	seeds := map[string]bool{}
	for _, path := range results {
		text, err := os.ReadFile(path)
		var r tare.Result
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		log, errLog := journal.Read(filepath.Join(filepath.Dir(path), journal.FileName))
		if err != nil || errLog != nil || len(log.Rounds) != r.RoundsDone {
			t.Errorf("%s: %v, %v", path, err, errLog)
		}
		seeds[r.Seed] = true
	}
	if len(seeds) != many {
		t.Errorf("results of seeds %v", seeds)
	}

	codes, errs = together(func(int) []string { return []string{"history", "check"} })
	for i := range many {
		if codes[i] != 0 {
			t.Errorf("history check %d: exit code %d: %s", i, codes[i], errs[i])
		}
	}

	cut, err := os.ReadFile(filepath.Join(s.dir, "cut.json"))
	if err != nil {
		t.Fatal(err)
	}
	full, err := os.ReadFile(filepath.Join(s.dir, "whole.json"))
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(s.dir, "script.json")
	if err := os.WriteFile(script, cut, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stderr := s.tare("", "run", "--quiet", "json", "--seed", "77"); code != 130 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if err := os.WriteFile(script, full, 0o600); err != nil {
		t.Fatal(err)
	}
	codes, errs = together(func(int) []string { return []string{"run", "--quiet", "json", "--resume", "--no-lock"} })
	resumed := 0
	for i := range many {
		switch {
		case codes[i] == 0:
			resumed++
		case codes[i] != 2 || !strings.HasPrefix(errs[i], "tare: nothing to resume: ") || strings.Count(errs[i], "\n") != 1:
			t.Errorf("resumed %d: exit code %d: %s", i, codes[i], errs[i])
		}
	}
	if resumed != 1 || s.whole("resumed by ten") != many+1 {
		t.Errorf("%d resumed it", resumed)
	}
	s.tidy("ten at once")
}
