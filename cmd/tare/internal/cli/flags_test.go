package cli

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/lab"
)

func TestRates(t *testing.T) {
	for text, want := range map[string]float64{
		"": 0, "1000/s": 1000, "1000": 1000, "2k/s": 2000, "2k": 2000, "1.5M/s": 1.5e6, "60/m": 1, "0.5/s": 0.5, "3k/m": 50, "90/m": 1.5,
	} {
		if got, err := (rateFlag{text}).rate(); err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"fast", "0", "0/s", "-1/s", "+1", "1e3/s", "1,000/s", "1000 /s", "1000/h", "1K/s", "1G/s", "/s", ".5", "1.", "inf", "NaN", "1000/s/s", strings.Repeat("9", 400)} {
		if got, err := (rateFlag{text}).rate(); code(err) != ExitUsage || !strings.Contains(err.Error(), "e.g. 1000/s") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, %v, want a usage error", text, got, err)
		}
	}
}

func TestEnvironment(t *testing.T) {
	for _, good := range [][]string{nil, {"GOGC=200"}, {"GOGC=off", "GOMEMLIMIT=1GiB"}, {"A="}, {"_a1=b=c d,e"}, {"MY_TARE_X=1"}} {
		if err := environment(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, c := range []struct {
		env  []string
		want string
	}{
		{[]string{"GOGC"}, `--env "GOGC" is no variable; NAME=value, e.g. GOGC=200`},
		{[]string{"=1"}, `--env "=1" is no variable; `},
		{[]string{""}, `--env "" is no variable; `},
		{[]string{"A B=1"}, `--env "A B=1" is no variable; `},
		{[]string{"1A=1"}, `--env "1A=1" is no variable; `},
		{[]string{"GOMAXPROCS=2"}, "--env GOMAXPROCS is not taken; --procs N sets it"},
		{[]string{"gomaxprocs=2"}, "--env GOMAXPROCS is not taken; --procs N sets it"},
		{[]string{"TARE_WIRE=3,4"}, "--env TARE_WIRE is not taken: TARE_ variables are tare's own; set TARE_CACHE and TARE_DATA in the environment of tare itself"},
		{[]string{"GOGC=1", "GOGC=2"}, "--env GOGC is given twice; "},
	} {
		if err := environment(c.env); code(err) != ExitUsage || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.env, err, c.want)
		}
	}
}

func TestPins(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("go.mod", []byte("module example.com/b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := pins([]string{"example.com/a@v1.2.3", "example.com/b=."})
	if here, _ := os.Getwd(); err != nil || !slices.Equal(got, []string{"example.com/a@v1.2.3", "example.com/b=" + here}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range []struct {
		with []string
		want string
	}{
		{[]string{"example.com/a"}, `--with "example.com/a" is neither module@version nor module=./dir`},
		{[]string{"example.com/a@v1", "example.com/a=."}, "--with example.com/a is given twice; "},
		{[]string{"example.com/a=./nowhere"}, "--with example.com/a=./nowhere: there is no go.mod in " + filepath.Join(dir, "nowhere")},
	} {
		if _, err := pins(c.with); code(err) != ExitUsage || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.with, err, c.want)
		}
	}
}

func TestRelease(t *testing.T) {
	for text, want := range map[string]string{"go1.25.5": "go1.25.5", "1.25.5": "go1.25.5", "1.27rc1": "go1.27rc1"} {
		if got, err := release([]string{text}); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, given := range [][]string{{"1.25"}, {"latest"}, {""}, {"go1.25.5,go1.26.0"}, {"go1.25.5", "go1.26.0"}} {
		if got, err := release(given); code(err) != ExitUsage {
			t.Errorf("%q: %q, %v, want a usage error", given, got, err)
		}
	}
}

// made up of two studies: jsoniter in both, sonic in one.
func twoStudies() []chosen {
	study := func(id string, contenders, workloads []string) chosen {
		s := tare.Study{ID: id}
		for _, c := range contenders {
			s.Contenders = append(s.Contenders, tare.Entry{ID: c})
		}
		for _, w := range workloads {
			s.Workloads = append(s.Workloads, tare.Workload{ID: w})
		}
		return chosen{Study: s}
	}
	return []chosen{
		study("encode", []string{"encoding-json", "jsoniter-fastest", "sonic-default", "sonic-fastest"}, []string{"devices-50/marshal", "events-10/marshal"}),
		study("decode", []string{"encoding-json", "jsoniter-fastest"}, []string{"devices-50/unmarshal"}),
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		only   lab.Only
		kept   []string
		others []string
		err    string
	}{
		{lab.Only{}, []string{"encode", "decode"}, nil, ""},
		{lab.Only{Contenders: []string{"jsoniter*"}}, []string{"encode", "decode"}, nil, ""},
		{lab.Only{Contenders: []string{"sonic*"}}, []string{"encode"}, []string{"decode"}, ""},
		{lab.Only{Contenders: []string{"sonic*", "jsoniter-*"}}, []string{"encode", "decode"}, nil, ""},
		{lab.Only{Workloads: []string{"devices*"}}, []string{"encode", "decode"}, nil, ""},
		{lab.Only{Workloads: []string{"*/unmarshal"}}, []string{"decode"}, []string{"encode"}, ""},
		{lab.Only{Contenders: []string{"sonc*"}}, nil, nil, `--contender "sonc*" matches no contender of any of the 2 studies; did you mean sonic*?`},
		{lab.Only{Contenders: []string{"sonic-fast"}}, nil, nil, `--contender "sonic-fast" matches no contender of any of the 2 studies; did you mean sonic-fastest?`},
		{lab.Only{Contenders: []string{"sonic"}}, nil, nil, `--contender "sonic" matches no contender of any of the 2 studies; did you mean sonic*, `},
		{lab.Only{Contenders: []string{"xyzzy"}}, nil, nil, `--contender "xyzzy" matches no contender of any of the 2 studies; known: encoding-json, jsoniter-fastest, sonic-default, sonic-fastest`},
		{lab.Only{Contenders: []string{"jsoniter*", "zzz"}}, nil, nil, `--contender "zzz" matches no`},
		{lab.Only{Workloads: []string{"devices-5/marshal"}}, nil, nil, `--workload "devices-5/marshal" matches no workload of any of the 2 studies; did you mean devices-50/marshal`},
		{lab.Only{Contenders: []string{"sonic*"}, Workloads: []string{"*/unmarshal"}}, nil, nil, "no study has both a contender and a workload that was chosen; "},
	} {
		kept, others, err := choose(c.only, twoStudies())
		var ids []string
		for _, s := range kept {
			ids = append(ids, s.ID)
		}
		switch {
		case c.err != "" && (code(err) != ExitUsage || !strings.HasPrefix(err.Error(), c.err)):
			t.Errorf("%+v: %v, want %s", c.only, err, c.err)
		case c.err == "" && (err != nil || !slices.Equal(ids, c.kept) || !slices.Equal(others, c.others)):
			t.Errorf("%+v: %q and not %q, %v", c.only, ids, others, err)
		}
	}
	if _, _, err := choose(lab.Only{Workloads: []string{"x"}}, twoStudies()[:1]); err == nil || !strings.Contains(err.Error(), "no workload of encode; known: ") {
		t.Errorf("one study: %v", err)
	}
	for _, bad := range []string{"[", "a[", `a\`, ""} {
		if err := patterns(lab.Only{Workloads: []string{bad}}); code(err) != ExitUsage {
			t.Errorf("%q is taken for a pattern: %v", bad, err)
		}
	}
}

// The last of the commands that tare new prints is a study that can be read.
func TestNextCommands(t *testing.T) {
	const edit = " mod edit "
	for _, c := range []struct {
		at, sdk string
		inside  bool
		want    []string // but the last
		entry   tare.Entry
	}{
		{"contenders/codec/mine", "", true, []string{"GOWORK=off go -C contenders/codec/mine get MODULE@VERSION", "make contenders LEAVES=contenders/codec/mine"}, tare.Entry{ID: "mine"}},
		{"/src/tare/contenders/codec/mine", "", true, []string{"GOWORK=off go -C /src/tare/contenders/codec/mine get MODULE@VERSION", "make -C /src/tare contenders LEAVES=contenders/codec/mine"}, tare.Entry{ID: "mine"}},
		{"bench/mine", "", false, []string{"GOWORK=off go -C bench/mine get . MODULE@VERSION", "GOWORK=off go -C bench/mine vet ."}, tare.Entry{ID: "mine", Program: "./bench/mine"}},
		{"/a b/mine", "/my cache/catalog/0", false, []string{
			"GOWORK=off go -C '/a b/mine'" + edit + "'-replace=github.com/tarebench/tare=/my cache/catalog/0' # for go and an editor on this machine",
			"GOWORK=off go -C '/a b/mine' get . MODULE@VERSION", "GOWORK=off go -C '/a b/mine' vet .",
			"GOWORK=off go -C '/a b/mine'" + edit + "-dropreplace=github.com/tarebench/tare # before it goes to another; tare needs none",
		}, tare.Entry{ID: "mine", Program: "/a b/mine"}},
	} {
		got := next("codec", "mine", c.at, c.sdk)
		if c.inside {
			got = nextInside("codec", "mine", c.at)
		}
		last := len(got) - 1
		if !slices.Equal(got[:last], c.want) {
			t.Errorf("%s: %q\nwant %q", c.at, got[:last], c.want)
		}
		s := piped(t, got[last])
		if len(s.Contenders) != 2 || s.Contenders[1].ID != c.entry.ID || s.Contenders[1].Program != c.entry.Program {
			t.Errorf("%s: %+v", got[last], s.Contenders)
		}
	}
	for _, kind := range catalog.Kinds() {
		if s := piped(t, weighed(kind, "mine", "mine")); !slices.Equal(s.Kinds, []string{kind}) || s.Contenders[0].ID != s.Baseline {
			t.Errorf("%s: %+v", kind, s)
		}
	}
}

// piped is the study that a command pipes into tare.
func piped(t *testing.T, command string) tare.Study {
	t.Helper()
	_, study, _ := strings.Cut(command, "'")
	study, run, _ := strings.Cut(study, "'")
	s, err := studyfile.Parse("stdin", []byte(study))
	if err != nil || run != " | tare run -" {
		t.Fatalf("%s: %v", command, err)
	}
	return s
}
