package gatecmd

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
)

// What an agent sends back for a gate is checked before the coordinator uses it.
func TestReadReportRefuses(t *testing.T) {
	of := func(results string) []byte {
		return []byte(`{"schema":"` + gate.Schema + `","results":` + results + `}`)
	}
	good := `{"schema":"` + tare.ResultSchema + `","study":"bench"}`
	if rep, err := readReport("a", of("["+good+"]")); err != nil || len(rep.Results) != 1 {
		t.Errorf("%d results, %v", len(rep.Results), err)
	}
	for _, results := range []string{"[null]", "[" + good + ",null]", "[{}]", `[{"schema":"tare.result/0","study":"bench"}]`, "[{\"schema\":\"" + tare.ResultSchema + "\"}]", `"x"`} {
		if _, err := readReport("a", of(results)); err == nil || !strings.HasPrefix(err.Error(), "a") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", results, err)
		}
	}
}
