package check

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

func TestSemanticDiff(t *testing.T) {
	in := soundStudy()
	in.Semantics = []tare.Semantics{
		{Contender: "lean", Reference: "encoding/json go1.26.8", Cases: 90, Differences: []tare.Difference{
			{Class: tare.DiffersInForm, Says: "leaves < as it is"},
			{Class: tare.DiffersInValue, Says: "writes 1.5e-9 as 0"},
			{Class: tare.DiffersInForm, Says: "leaves < as it is"},
		}},
		{Contender: "spelled", Reference: "encoding/json go1.26.8", Cases: 90, Differences: []tare.Difference{
			{Class: tare.DiffersInForm, Says: "a"}, {Class: tare.DiffersInForm, Says: "b"}, {Class: tare.DiffersInForm, Says: "c"},
			{Class: tare.DiffersInForm, Says: "d"}, {Class: tare.DiffersInForm, Says: "e"}, {Class: tare.DiffersInForm, Says: "f"},
		}},
		{Contender: "same", Reference: "encoding/json go1.26.8", Cases: 90},
	}
	c, _ := Named("semantic-diff")
	got := c.Run(in)
	if len(got) != 2 {
		t.Fatalf("%d findings, want one for each contender that differs: %+v", len(got), got)
	}
	if f := got[0]; f.Severity != tare.Warn || !strings.Contains(f.Message, "3 of 90 answers are not encoding/json go1.26.8's: it writes 1.5e-9 as 0; leaves < as it is") {
		t.Errorf("%+v", f)
	}
	if f := got[1]; f.Severity != tare.Note || !strings.HasSuffix(f.Message, "it a; b; c; d; and 2 more") {
		t.Errorf("%+v", f)
	}
	if got := c.Run(soundStudy()); len(got) != 0 {
		t.Errorf("without evidence: %+v", got)
	}
}
