package cmdenv

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab"
)

// twoStudies returns two studies: jsoniter in both, sonic in one.
func twoStudies() []Study {
	study := func(id string, contenders, workloads []string) Study {
		s := tare.Study{ID: id}
		for _, c := range contenders {
			s.Contenders = append(s.Contenders, tare.Entry{ID: c})
		}
		for _, w := range workloads {
			s.Workloads = append(s.Workloads, tare.Workload{ID: w})
		}
		return Study{Study: s}
	}
	return []Study{
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
		kept, others, err := Choose(c.only, twoStudies())
		var ids []string
		for _, s := range kept {
			ids = append(ids, s.ID)
		}
		switch {
		case c.err != "" && (ExitCode(err) != ExitUsage || !strings.HasPrefix(err.Error(), c.err)):
			t.Errorf("%+v: %v, want %s", c.only, err, c.err)
		case c.err == "" && (err != nil || !slices.Equal(ids, c.kept) || !slices.Equal(others, c.others)):
			t.Errorf("%+v: %q and not %q, %v", c.only, ids, others, err)
		}
	}
	if _, _, err := Choose(lab.Only{Workloads: []string{"x"}}, twoStudies()[:1]); err == nil || !strings.Contains(err.Error(), "no workload of encode; known: ") {
		t.Errorf("one study: %v", err)
	}
	for _, bad := range []string{"[", "a[", `a\`, ""} {
		if err := CheckPatterns(lab.Only{Workloads: []string{bad}}); ExitCode(err) != ExitUsage {
			t.Errorf("%q is taken for a pattern: %v", bad, err)
		}
	}
}
