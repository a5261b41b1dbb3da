package html

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

func TestClaimsPage(t *testing.T) {
	r := &tare.Result{Study: "one<script>", Question: "Is it <b>?", Answer: "Yes, <u>.", Judged: tare.Judged{Claims: []tare.ClaimResult{
		{ID: "F1.1", Source: "a page </style>", Statement: "<img src=x>", Outcome: tare.Refuted, Why: "since <i>"},
	}}}
	var out strings.Builder
	if err := WriteClaims(&out, []Linked{{r, "results/one/1/report.html"}, {&tare.Result{Study: "two"}, ""}}); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{"1 of 1 weighed claim is refuted", "F1.1", "&lt;img src=x&gt;", "since &lt;i&gt;", "<strong>Yes, &lt;u&gt;.</strong> Is it &lt;b&gt;?", `href="results/one/1/report.html"`, "two"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, not := range []string{"<script", "<img", "<i>", "<b>?", "ZgotmplZ"} {
		if strings.Contains(page, not) {
			t.Errorf("%q is in the page", not)
		}
	}
}
