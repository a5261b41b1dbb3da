package suite

import (
	"slices"
	"strings"
	"testing"
)

func TestParseLink(t *testing.T) {
	said := `WORK=/tmp/x y/go-build1
mkdir -p $WORK/b001/
cat >$WORK/b001/importcfg.link << 'EOF' # internal
packagefile example.com/a=$WORK/b001/_pkg_.a
EOF
cd .
GOROOT='/usr/local/go' /usr/local/go/pkg/tool/linux_amd64/link -o $WORK/b001/a.test -importcfg $WORK/b001/importcfg.link -X=main.v="a b" "-buildmode=exe" -s -w -randlayout=1 "-extldflags=-L /x" $WORK/b001/_pkg_.a
mv $WORK/b001/a.test bench.test
`
	l, err := parseLink(said)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/usr/local/go/pkg/tool/linux_amd64/link", "-importcfg", "/tmp/x y/go-build1/b001/importcfg.link"}
	if !slices.Equal(l.Env, []string{"GOROOT=/usr/local/go"}) || !slices.Equal(l.Args[:3], want) {
		t.Errorf("%q with %q", l.Args, l.Env)
	}
	all := strings.Join(l.Args, "|")
	if strings.Contains(all, "-o|") || strings.Contains(all, "randlayout") || !strings.Contains(all, "|-X=main.v=a b|-buildmode=exe|-s|-w|-extldflags=-L /x|") || !strings.HasSuffix(all, "_pkg_.a") {
		t.Errorf("%s", all)
	}
	for _, said := range []string{"", "WORK=/tmp/x\n", "/usr/bin/ld -importcfg x -o y z\n", "cat >importcfg.link\n"} {
		if _, err := parseLink(said); err == nil {
			t.Errorf("%q: no error", said)
		}
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"": nil, "a  b\t": {"a", "b"}, `'a b' c`: {"a b", "c"}, `x='a b'c "d\te"f`: {"x=a bc", "d\tef"}, `'open`: {"open"}, `"open`: {`"open`}, `''`: {""},
	} {
		if got := splitWords(line); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestFlagIn(t *testing.T) {
	for goflags, want := range map[string]string{
		"": "", "-ldflags=-s": "-s", "'-ldflags=-X a.b=c -s' -mod=mod": "-X a.b=c -s", "-ldflags=a --ldflags=b": "b", "-gcflags=-ldflags=x": "",
	} {
		if got := findFlag(goflags, "ldflags"); got != want {
			t.Errorf("%s: %q, want %q", goflags, got, want)
		}
	}
}
