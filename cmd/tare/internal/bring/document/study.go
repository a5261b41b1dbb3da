package document

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/internal/build"
)

// Baseline is who every codec is compared with.
const Baseline = "encoding-json"

// Budgets of the study: what does not fit in them is left out.
const (
	Quick = 70 * time.Second
	Full  = 6 * time.Minute
)

// works are the workloads there can be, the most useful first: a budget that is
// too short for all leaves out the last.
func works() []tare.Workload {
	return []tare.Workload{
		{ID: "typed/decode", File: "documents", Op: codec.OpUnmarshal},
		{ID: "typed/encode", File: "documents", Op: codec.OpMarshal},
		{ID: "any/decode", File: "documents", Op: codec.OpAny},
		{ID: "any/encode", File: "documents", Op: codec.OpMarshal},
	}
}

// familiar lists the codecs that a short budget leaves out last: drop-in
// replacements, and one with generated code.
func familiar() []string {
	return []string{Baseline, "goccy", "sonic-std", "jsoniter-compatible", "segmentio", "go-json-experiment", "easyjson"}
}

// byFamiliarity puts the familiar codecs first and keeps the order of the rest.
func byFamiliarity(a, b tare.Entry) int {
	place := func(id string) int {
		if i := slices.Index(familiar(), id); i >= 0 {
			return i
		}
		return len(familiar())
	}
	return cmp.Compare(place(a.ID), place(b.ID))
}

// Typed reports whether a workload is in the user's type.
func Typed(workload string) bool { return strings.HasPrefix(workload, "typed/") }

func fixtureOf(w tare.Workload) string {
	if Typed(w.ID) {
		return codec.UserFixture
	}
	return ""
}

func verbOf(w tare.Workload) string {
	if w.Op == codec.OpMarshal {
		return "encodes"
	}
	return "decodes"
}

// Ops are the words for what is asked.
func Ops() []string { return []string{"any", "typed", "all"} }

// unfit says why a codec of the catalog cannot be asked about documents of any
// shape; empty where it can.
func unfit(m build.Manifest) string {
	switch {
	case m.Trap:
		return "it reproduces a published mistake"
	case slices.Contains([]string{"fastjson", "gjson", "jsonparser", "simdjson-go"}, m.ID):
		return "it picks values out of a document and fills no types"
	case slices.Contains([]string{"cbor", "gob", "msgp", "protobuf"}, m.ID):
		return "its bytes are not JSON"
	case m.ID == "handwritten", m.ID == "scale", m.ID == tare.NullID:
		return "it is made for one fixture"
	}
	return ""
}

// StudyID is what the study of documents out of a file is called, so that
// results of the same documents are kept together.
func StudyID(file, typ string) string {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if file == "-" {
		name = "stdin"
	}
	if typ != "" {
		name += "-" + strings.TrimPrefix(typ[strings.LastIndexByte(typ, '/')+1:], ".")
	}
	return "json-" + strings.Trim(odd.ReplaceAllString(name, "-"), "-.")
}

var odd = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// NewStudy asks the codecs of a catalog, those that only chooses, for what op
// says. Who cannot be asked is named with the reason.
func NewStudy(id, question string, leaves []build.Leaf, op string, only func(id string) bool) (tare.Study, []tare.NotWeighed) {
	s := tare.Study{
		ID: id, Question: question, Kind: codec.Kind, Baseline: Baseline,
		Contenders: []tare.Entry{{ID: Baseline}},
		Metrics:    []string{"time", "cpu", "bytes", "allocs"},
		Budget:     tare.Budget{Quick: Quick, Full: Full},
		Borrowed:   true,
	}
	var left []tare.NotWeighed
	for _, leaf := range leaves {
		if leaf.Manifest.Kind != codec.Kind {
			continue
		}
		why := unfit(leaf.Manifest)
		if why == "" && op == "any" && Generated(leaf.Manifest.ID) {
			why = "it works with code that is generated for a type, and any is none"
		}
		if why != "" && leaf.Manifest.ID != tare.NullID {
			left = append(left, tare.LeftContender(leaf.Manifest.ID, why))
		}
		for _, id := range leaf.Manifest.IDs() {
			if why == "" && id != Baseline && only(id) {
				s.Contenders = append(s.Contenders, tare.Entry{ID: id})
			}
		}
	}
	slices.SortStableFunc(s.Contenders, byFamiliarity)
	for _, w := range works() {
		if op == "all" || (op == "typed") == Typed(w.ID) {
			s.Workloads = append(s.Workloads, w)
		}
	}
	return s, left
}
