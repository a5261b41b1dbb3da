package studyfile

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/studies"
)

// The statements of the five write-ups are numbered from 1 in each of these.
var published = map[string]int{"F0": 20, "F1": 8, "F2": 9, "F3": 1, "F4": 15}

// Every statement that was published has a row in docs/claims.md with an
// outcome, and a reason in it wherever figures do not speak for themselves; and
// a study asks every row.
func TestEveryPublishedStatementHasAnOutcome(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/claims.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	column := map[string]int{}
	inBold := regexp.MustCompile(`^\*\*([a-z ]+)\*\*(.*)$`)
	for i, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if strings.HasPrefix(line, "| claim |") || strings.HasPrefix(line, "| id |") {
			clear(column)
			for at, name := range cells {
				name, _, _ = strings.Cut(name, ",")
				column[name] = at
			}
		}
		if !strings.HasPrefix(line, "| F") {
			continue
		}
		id := cells[0]
		if rows[id] {
			t.Errorf("docs/claims.md:%d: %s has a row already", i+1, id)
		}
		rows[id] = true
		outcome, measured, why := cells[column["outcome"]], "", ""
		if at, old := column["measured here"]; old { // a section that is of a run not kept
			bold := inBold.FindStringSubmatch(outcome)
			if bold == nil {
				t.Errorf("docs/claims.md:%d: %s has no outcome: %q", i+1, id, outcome)
				continue
			}
			outcome, measured, why = bold[1], cells[at], bold[2]
		} else {
			measured, why = cells[column["measured"]], cells[column["why"]]
		}
		if !slices.Contains(tare.Outcomes(), tare.Outcome(strings.TrimPrefix(outcome, "reported, "))) {
			t.Errorf("docs/claims.md:%d: %s has no outcome: %q", i+1, id, outcome)
		}
		if !strings.ContainsAny(measured, "0123456789") && len(why) < 10 {
			t.Errorf("docs/claims.md:%d: %s is %s, and nothing says why", i+1, id, outcome)
		}
	}
	asked := map[string]bool{}
	for _, name := range studies.Names() {
		src, err := studies.FS.ReadFile(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(name+".yaml", src)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Claims {
			asked[c.ID] = true
			if !rows[c.ID] {
				t.Errorf("%s of study %s has no row in docs/claims.md", c.ID, name)
			}
		}
	}
	for id := range rows {
		if !asked[id] {
			t.Errorf("%s has a row in docs/claims.md, and no study asks it", id)
		}
	}
	for of, n := range published {
		for i := 1; i <= n; i++ {
			id := of + "." + strconv.Itoa(i)
			if !slices.ContainsFunc(slices.Collect(maps.Keys(rows)), func(row string) bool {
				return row == id || strings.HasPrefix(row, id+"/") || strings.HasPrefix(row, id+"-")
			}) {
				t.Errorf("%s was published and has no row in docs/claims.md", id)
			}
		}
	}
}

// testdata/figures.txt has every figure that was published; docs/claims.md has each in a
// row of its claim.
func TestEveryPublishedFigureHasARow(t *testing.T) {
	claims, err := os.ReadFile("../../../../docs/claims.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("testdata/figures.txt")
	if err != nil {
		t.Fatal(err)
	}
	thousands := regexp.MustCompile(`(\d),(\d{3})\b`)
	rows := map[string][]string{}
	for line := range strings.Lines(string(claims)) {
		if id, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok && strings.HasPrefix(line, "| F") {
			for thousands.MatchString(line) {
				line = thousands.ReplaceAllString(line, "$1$2")
			}
			rows[id] = append(rows[id], line)
		}
	}
	figures := 0
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		var text string
		for id, lines := range rows {
			if id == words[0] || strings.HasPrefix(id, words[0]+"/") || strings.HasPrefix(id, words[0]+"-") {
				text += strings.Join(lines, "\n")
			}
		}
		for _, figure := range words[1:] {
			figures++
			if !regexp.MustCompile(`(^|[^\d.])` + regexp.QuoteMeta(figure) + `($|[^\d.]|\.[^\d])`).MatchString(text) {
				t.Errorf("%s: %s was published, and no row shows it", words[0], figure)
			}
		}
	}
	if figures < 400 {
		t.Errorf("%d figures are listed", figures)
	}
}
