package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
)

// One machine measures all rounds there are, and does not ask for one more.
func TestOneMachine(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	join(t, c.url(), "one", "a")
	h := hub(t, HubOptions{URL: c.url(), Prefix: "one"})
	run := &StudyRun{Hub: h, Dir: t.TempDir(), Machines: []string{"a"}, Share: 3, Study: StudyOrder{Command: "run", ID: "s", Text: study, Seed: 5}, Say: func(string, string) {}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	results, err := run.Run(ctx)
	if err != nil || len(results) != 1 || results[0].Result.RoundsDone != 3 {
		t.Errorf("%+v, %v", results, err)
	}
	again := &StudyRun{Hub: h, Dir: run.Dir, Machines: run.Machines, Share: 3, Study: run.Study, Say: run.Say}
	if results, err = again.Run(ctx); err != nil || len(results) != 1 || results[0].Name != "a" {
		t.Errorf("by its journal: %+v, %v", results, err)
	}
}

// A machine whose result is refused gets no more, and the run says why.
func TestRefusedResult(t *testing.T) {
	t.Parallel()
	h := hub(t, HubOptions{})
	piped(t, h, &Agent{Study: func(context.Context, StudyOrder, Task) ([]byte, error) { return []byte("{"), nil }}, "a")
	run := &StudyRun{Hub: h, Dir: t.TempDir(), Machines: []string{"a"}, Share: 2, Study: StudyOrder{Command: "run", ID: "s", Text: study, Seed: 5}, Say: func(string, string) {}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	results, err := run.Run(ctx)
	if err == nil || !strings.Contains(err.Error(), "rejected its result") || len(results) > 0 || run.pool.countLosses("a") != 1 {
		t.Errorf("%d orders lost, %v, %v", run.pool.countLosses("a"), results, err)
	}
}

// A machine that loses order after order gets no more: a run ends.
func TestMostLosses(t *testing.T) {
	h := hub(t, HubOptions{})
	piped(t, h, &Agent{}, "a")
	run := &StudyRun{Hub: h, Dir: t.TempDir(), Machines: []string{"a"}, Share: 2, Study: StudyOrder{Command: "run", ID: "s", Text: study, Seed: 5}, Say: func(string, string) {}}
	if err := run.openJournal(); err != nil {
		t.Fatal(err)
	}
	defer run.journal.Close()
	for n := range maxLosses {
		if run.chooseSurvivor() != "a" {
			t.Fatalf("after %d losses it gets nothing", n)
		}
		order := fmt.Sprint("o", n)
		if err := run.record(event{What: "begin", Order: order, Machine: "a"}); err != nil {
			t.Fatal(err)
		}
		run.takeBack(order, "a", errors.New("it was silent"))
	}
	if again := run.chooseSurvivor(); again != "" {
		t.Errorf("after %d losses %s gets another order", maxLosses, again)
	}
}

// TestParts: each machine measures a part of its own. One is killed and one has
// nothing to measure: every part is in one result, or in none.
func TestParts(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	names := []string{"a", "b", "c"}
	members := map[string]*member{}
	for _, name := range names {
		members[name] = join(t, c.url(), "parts", name)
	}
	members["b"].pauses <- time.Hour // until it is killed
	h := hub(t, HubOptions{URL: c.url(), Prefix: "parts"})
	run := &StudyRun{Hub: h, Dir: t.TempDir(), Machines: names, Share: 3, Study: StudyOrder{Command: "bench", Flags: []string{"--env=GOGC=50"}, Repo: packed(), Seed: 5}, Say: func(name, line string) { t.Log(name, line) }}
	time.AfterFunc(300*time.Millisecond, members["b"].kill)
	results, err := run.RunParts(t.Context())
	if err != nil {
		t.Error(err)
	}
	var got []string
	for _, r := range results {
		got = append(got, fmt.Sprintf("%s %s %d", r.Name, r.Result.Question, r.Result.RoundsDone))
	}
	if want := "a --shard=1/3 3,a --shard=2/3 3,c --shard=3/3 3"; strings.Join(got, ",") != want {
		t.Errorf("%q, want %s", got, want)
	}
}

// A divided run that was interrupted is gone on with: a part whose result is there
// is not measured again.
func TestPartsResumed(t *testing.T) {
	t.Parallel()
	h := hub(t, HubOptions{})
	var mu sync.Mutex
	began, hold := map[string]int{}, true
	other := make(chan struct{}) // closed when part 2 begins: part 1 is not over before
	begin := sync.OnceFunc(func() { close(other) })
	for _, name := range []string{"a", "b"} {
		piped(t, h, &Agent{Limits: Limits{Commands: true}, Study: func(ctx context.Context, o StudyOrder, task Task) ([]byte, error) {
			part := o.flagValue("shard")
			mu.Lock()
			began[part]++
			wait := hold && part == "2/2"
			mu.Unlock()
			if wait {
				begin()
				<-ctx.Done()
				return nil, ctx.Err()
			}
			<-other
			if _, err := task.Permit(ctx, 0); err != nil {
				return nil, err
			}
			return json.Marshal(result(o, 1))
		}}, name)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	dir := t.TempDir()
	run := func(say func(name, line string)) *StudyRun {
		return &StudyRun{Hub: h, Dir: dir, Machines: []string{"a", "b"}, Share: 1, Study: StudyOrder{Command: "bench", Repo: packed(), Seed: 5}, Say: say}
	}
	first := run(func(name, line string) {
		if name == "a" && strings.HasSuffix(line, "measured") {
			interrupt()
		}
	})
	if results, _ := first.RunParts(ctx); len(results) != 1 || results[0].Name != "a" {
		t.Fatalf("until it was interrupted: %+v", results)
	}
	if seed, ok, err := UnfinishedSeed(dir); !ok || seed != 5 || err != nil {
		t.Errorf("unfinished: %d, %v, %v", seed, ok, err)
	}
	mu.Lock()
	hold = false
	mu.Unlock()
	again := run(func(name, line string) { t.Log(name, line) })
	results, err := again.RunParts(t.Context())
	if err != nil || len(results) != 2 || results[0].Name != "a" || results[1].Result.RoundsDone != 1 {
		t.Errorf("%+v, %v", results, err)
	}
	if began["1/2"] != 1 || began["2/2"] < 2 {
		t.Errorf("begun: %v; want part 1 once", began)
	}
}

// A part with nothing in it is no failure; a whole study of nothing says so.
func TestNothing(t *testing.T) {
	t.Parallel()
	h := hub(t, HubOptions{})
	for _, name := range []string{"a", "b"} {
		piped(t, h, &Agent{Limits: Limits{Commands: true}, Study: func(ctx context.Context, o StudyOrder, task Task) ([]byte, error) {
			if o.flagValue("shard") == "1/2" {
				return nil, &NothingError{"no benchmark to measure"}
			}
			if _, err := task.Permit(ctx, 0); err != nil {
				return nil, err
			}
			return json.Marshal(result(o, 1))
		}}, name)
	}
	run := &StudyRun{Hub: h, Dir: t.TempDir(), Machines: []string{"a", "b"}, Share: 1, Study: StudyOrder{Command: "bench", Repo: packed(), Seed: 5}, Say: func(string, string) {}}
	results, err := run.RunParts(t.Context())
	if err != nil || len(results) != 1 || results[0].Name != "b" {
		t.Errorf("%+v, %v", results, err)
	}
	run.Dir, run.Machines, run.Study.Flags = t.TempDir(), []string{"a"}, []string{"--shard=1/2"}
	var nothing *NothingError
	if results, err = run.Run(t.Context()); !errors.As(err, &nothing) || len(results) > 0 {
		t.Errorf("%+v, %v", results, err)
	}
}

// packed is a repository of an order that nobody unpacks.
func packed() *gitrev.Packed {
	id := strings.Repeat("a", 40)
	return &gitrev.Packed{Head: id, Commits: []string{id}, Tree: id}
}

// Files of an order come from its coordinator, by their content, and once.
func TestFiles(t *testing.T) {
	t.Parallel()
	h := hub(t, HubOptions{})
	content := bytes.Repeat([]byte("0123456789"), maxPart/4) // of several parts
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	file, held, err := OpenFile("doc.json", path)
	if err != nil || checkFiles([]File{file}) != nil {
		t.Fatal(err)
	}
	kept := t.TempDir()
	fetches := 0
	var wrong error
	a := &Agent{Study: func(ctx context.Context, o StudyOrder, task Task) ([]byte, error) {
		for range 2 {
			got, err := CachedFile(ctx, kept, o.Files[0], func(ctx context.Context, f File, out io.Writer) error { fetches++; return task.Fetch(ctx, f, out) })
			if err != nil {
				return nil, err
			}
			if text, err := os.ReadFile(got); err != nil || !bytes.Equal(text, content) {
				return nil, fmt.Errorf("it holds %d bytes, %v", len(text), err)
			}
		}
		if err := os.WriteFile(filepath.Join(kept, file.Hash), []byte("changed"), 0o600); err != nil {
			return nil, err
		}
		if _, err := CachedFile(ctx, kept, file, task.Fetch); err != nil {
			return nil, err
		}
		other := file
		other.Hash = fmt.Sprintf("%x", sha256.Sum256([]byte("other")))
		wrong = task.Fetch(ctx, other, io.Discard)
		if _, err := task.Permit(ctx, 0); err != nil {
			return nil, err
		}
		return json.Marshal(result(o, 1))
	}}
	piped(t, h, a, "a")
	run := &StudyRun{Hub: h, Dir: t.TempDir(), Machines: []string{"a"}, Share: 1, Contents: map[string]Content{file.Hash: held}, Say: func(string, string) {},
		Study: StudyOrder{Command: "json", ID: "s", Names: []string{"doc.json"}, Files: []File{file}, Seed: 5}}
	if results, err := run.Run(t.Context()); err != nil || len(results) != 1 {
		t.Fatalf("%+v, %v", results, err)
	}
	if fetches != 1 {
		t.Errorf("fetched %d times", fetches)
	}
	if wrong == nil || !strings.Contains(wrong.Error(), "no such file") {
		t.Errorf("a file that the order has not: %v", wrong)
	}
	if got := run.answerFile("b", fileRequest{"o", file.Hash, 0}); got.Refused == "" {
		t.Error("a machine without an order was given a file")
	}
	for _, n := range []int{-1, 6, 1 << 31, 1 << 44, 1 << 45, 3 << 44, math.MaxInt} {
		if got := contentPart(held, n); got.Refused == "" {
			t.Errorf("part %d has %d bytes", n, len(got.Data))
		}
	}
	for what, f := range map[string]File{"outside": {"../x", file.Hash, 1}, "no hash": {"x", "abc", 1}, "too long": {"x", file.Hash, maxFiles + 1}, "negative": {"x", file.Hash, -1}} {
		if checkFiles([]File{f}) == nil {
			t.Errorf("%s: taken", what)
		}
	}
	if checkFiles([]File{file, file}) == nil {
		t.Error("two files of one name were taken")
	}
	for last, want := range map[int64]bool{1: true, 2: false} { // each of them is allowed
		err := checkFiles([]File{{"x", file.Hash, maxFiles - 1}, {"y", file.Hash, last}})
		if taken := err == nil; taken != want {
			t.Errorf("files of %d bytes in all: %v", maxFiles-1+last, err)
		}
	}
}

// TestFilesOfAnotherOrder: an agent reads the files of the order that it has, and of no other.
func TestFilesOfAnotherOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, held, err := OpenFile("doc.json", path)
	if err != nil {
		t.Fatal(err)
	}
	run := &StudyRun{Dir: t.TempDir(), Machines: []string{"a", "b"}, Share: 1, Contents: map[string]Content{file.Hash: held}, Study: StudyOrder{Command: "json", ID: "s", Files: []File{file}, Seed: 5}}
	if err := run.openJournal(); err != nil {
		t.Fatal(err)
	}
	defer run.journal.Close()
	for order, machine := range map[string]string{"of-a": "a", "of-b": "b"} {
		if err := run.record(event{What: "begin", Order: order, Machine: machine}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		machine, order string
		want           string
	}{{"a", "of-a", "secret"}, {"b", "of-b", "secret"}, {"b", "of-a", ""}, {"a", "of-b", ""}, {"c", "of-a", ""}} {
		if got := run.answerFile(c.machine, fileRequest{c.order, file.Hash, 0}); string(got.Data) != c.want || (got.Refused == "") != (c.want != "") {
			t.Errorf("%s asks for a file of order %s: %q, refused: %q", c.machine, c.order, got.Data, got.Refused)
		}
	}
	if err := run.record(event{What: "lose", Order: "of-a", Why: "it was silent"}); err != nil {
		t.Fatal(err)
	}
	if got := run.answerFile("a", fileRequest{"of-a", file.Hash, 0}); got.Refused == "" {
		t.Error("an agent reads files of an order that it lost")
	}
}

// Content that is not what the order names is not kept.
func TestFileOfAnotherContent(t *testing.T) {
	dir := t.TempDir()
	f := File{Name: "x", Hash: fmt.Sprintf("%x", sha256.Sum256([]byte("right"))), Size: 5}
	if _, err := CachedFile(t.Context(), dir, f, func(_ context.Context, _ File, out io.Writer) error { return errors.New("it has another content") }); err == nil {
		t.Error("it was kept")
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
