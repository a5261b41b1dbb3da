package jsonstudy

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// Baseline is the codec that every other codec is compared with.
const Baseline = "encoding-json"

// Budgets of the study, which skips workloads that do not fit.
const (
	Quick = 70 * time.Second
	Full  = 6 * time.Minute
)

// allWorkloads returns the possible workloads, the most useful first: a short budget skips the last
// ones.
func allWorkloads() []tare.Workload {
	return []tare.Workload{
		{ID: "typed/decode", File: "documents", Op: codec.OpUnmarshal},
		{ID: "typed/encode", File: "documents", Op: codec.OpMarshal},
		{ID: "any/decode", File: "documents", Op: codec.OpAny},
		{ID: "any/encode", File: "documents", Op: codec.OpMarshal},
	}
}

// familiarCodecs lists the codecs that a short budget skips last: drop-in replacements, and one with
// generated code.
func familiarCodecs() []string {
	return []string{Baseline, "goccy", "sonic-std", "jsoniter-compatible", "segmentio", "go-json-experiment", "easyjson"}
}

// byFamiliarity compares entries, so that those of familiarCodecs come first.
func byFamiliarity(a, b tare.Entry) int {
	position := func(id string) int {
		if i := slices.Index(familiarCodecs(), id); i >= 0 {
			return i
		}
		return len(familiarCodecs())
	}
	return cmp.Compare(position(a.ID), position(b.ID))
}

// Typed reports whether a workload uses a Go type for the documents, not any.
func Typed(workload string) bool { return strings.HasPrefix(workload, "typed/") }

// fixtureOf returns codec.UserFixture for the documents' type, "" for any.
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

// Ops returns the values of --op.
func Ops() []string { return []string{"any", "typed", "all"} }

// whyUnfit returns why a codec cannot process documents of any shape.
func whyUnfit(m build.Manifest) string {
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

// StudyID returns the id of the study of the documents in a file; "-" is stdin. For orders.json and the
// --type example.com/shop/order.Order it is json-orders-order.Order.
func StudyID(file, typ string) string {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if file == "-" {
		name = "stdin"
	}
	if typ != "" {
		name += "-" + strings.TrimPrefix(typ[strings.LastIndexByte(typ, '/')+1:], ".")
	}
	return "json-" + strings.Trim(unsafeRE.ReplaceAllString(name, "-"), "-.")
}

var unsafeRE = lazyregexp.New(`[^A-Za-z0-9._-]+`)

// NewStudy returns the study of the selected codecs among leaves (modules of contenders), on the
// workloads of op, one of Ops. It also returns the codecs that cannot process the documents.
func NewStudy(id, question string, leaves []build.Leaf, op string, only func(id string) bool) (tare.Study, []tare.NotWeighed) {
	s := newStudy(id, question, op)
	var left []tare.NotWeighed
	for _, leaf := range leaves {
		if leaf.Manifest.Kind != codec.Kind {
			continue
		}
		why := whyUnfit(leaf.Manifest)
		if why == "" && op == "any" && Generated(leaf.Manifest.ID) {
			why = "it works with code that is generated for a type, and any is no type"
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
	return s, left
}
