package stats

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestRanks(t *testing.T) {
	// 0 beats 2 and 3, 1 beats 3, the rest is open.
	wins := map[[2]int]bool{{0, 2}: true, {0, 3}: true, {1, 3}: true}
	low, high := Ranks(4, func(i, j int) int {
		switch {
		case wins[[2]int{i, j}]:
			return -1
		case wins[[2]int{j, i}]:
			return 1
		}
		return 0
	})
	if !slices.Equal(low, []int{1, 1, 2, 3}) || !slices.Equal(high, []int{2, 3, 4, 4}) {
		t.Errorf("ranks %v … %v", low, high)
	}
}

func TestLettersTable(t *testing.T) {
	for _, c := range []struct {
		name     string
		n        int
		distinct [][2]int
		order    []int
		want     []string
	}{
		{"none", 0, nil, nil, []string{}},
		{"alone", 1, nil, nil, []string{"a"}},
		{"all alike", 3, nil, nil, []string{"a", "a", "a"}},
		{"all distinct", 3, [][2]int{{0, 1}, {0, 2}, {1, 2}}, nil, []string{"a", "b", "c"}},
		{"overlap is not transitive", 3, [][2]int{{0, 2}}, nil, []string{"a", "ab", "b"}},
		{"order gives the letters", 3, [][2]int{{0, 2}}, []int{2, 1, 0}, []string{"b", "ab", "a"}},
		{"two of four", 4, [][2]int{{0, 2}, {0, 3}, {1, 3}}, nil, []string{"a", "ab", "bc", "c"}},
		{"middle apart", 3, [][2]int{{0, 1}, {1, 2}}, nil, []string{"a", "b", "a"}},
	} {
		got := Letters(c.n, func(i, j int) bool {
			return slices.Contains(c.distinct, [2]int{i, j}) || slices.Contains(c.distinct, [2]int{j, i})
		}, c.order)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLettersSayExactlyWhatIsDistinct(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		n := 1 + r.IntN(12)
		distinct := make([][]bool, n)
		for i := range distinct {
			distinct[i] = make([]bool, n)
		}
		for i := range n {
			for j := range i {
				distinct[i][j] = r.IntN(3) > 0
				distinct[j][i] = distinct[i][j]
			}
		}
		letters := Letters(n, func(i, j int) bool { return distinct[i][j] }, r.Perm(n))
		used := map[rune]bool{}
		for i := range n {
			if letters[i] == "" {
				t.Fatalf("seed %d: %d has no letter", seed, i)
			}
			for _, l := range letters[i] {
				used[l] = true
			}
			for j := range i {
				if shares := strings.ContainsAny(letters[i], letters[j]); shares == distinct[i][j] {
					t.Errorf("seed %d: %q and %q, distinct %v", seed, letters[i], letters[j], distinct[i][j])
				}
			}
		}
		// No group is inside another (absorb), so none can be left out for that.
		for a := range used {
			for b := range used {
				inside := a != b
				for _, s := range letters {
					inside = inside && (!strings.ContainsRune(s, a) || strings.ContainsRune(s, b))
				}
				if inside {
					t.Errorf("seed %d: group %c is inside %c: %q", seed, a, b, letters)
				}
			}
		}
	}
}

func TestLettersBeyondTheAlphabet(t *testing.T) {
	got := Letters(54, func(i, j int) bool { return true }, nil)
	if got[25] != "z" || got[26] != "A" || got[51] != "Z" || got[52] != "(53)" || got[53] != "(54)" {
		t.Errorf("letters %q", got[25:])
	}
}
