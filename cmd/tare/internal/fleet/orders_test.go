package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/load"
)

// Orders that no coordinator gives, and what an agent was not allowed, are refused.
func TestOrders(t *testing.T) {
	good := func() Order {
		return Order{Protocol: Protocol, ID: "o", Study: &StudyOrder{Command: "run", ID: "s", Text: study, Most: 18, Seed: 5}}
	}
	if err := good().check(Limits{}); err != nil {
		t.Fatal(err)
	}
	command := strings.Replace(study, "contenders: [encoding-json]", `contenders: [encoding-json, {id: x, url: "http://127.0.0.1:1"}]`, 1)
	for why, change := range map[string]func(*Order){
		"protocol":         func(o *Order) { o.Protocol = "tare.agent/1" },
		"no id":            func(o *Order) { o.ID = "" },
		"number of rounds": func(o *Order) { o.Study.Most = 0 },
		"not a number":     func(o *Order) { o.Study.Most = maxRounds + 1 },
		"the order's":      func(o *Order) { o.Study.Text = "{" },
		"--allow-commands": func(o *Order) { o.Study.Text = command },
		"one of them":      func(o *Order) { o.Load = &LoadOrder{} },
		"one machine": func(o *Order) {
			o.Study.Text = strings.Replace(study, "contenders: [encoding-json]", `contenders: [encoding-json, {id: x, program: ./x}]`, 1)
		},
	} {
		o := good()
		change(&o)
		if err := o.check(Limits{}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
	file := File{"x.json", strings.Repeat("0", 64), 1}
	for why, o := range map[string]StudyOrder{
		"not a command":                       {Command: "load"},
		"started without --allow-commands":    {Command: "bench", Repo: packed()},
		"--type runs code":                    {Command: "json", Flags: []string{"--type=./x.T"}, Repo: packed()},
		"no repository":                       {Command: "gate"},
		"does not carry --output=x":           {Command: "run", Text: study, Flags: []string{"--output=x"}},
		"does not carry -o":                   {Command: "run", Text: study, Flags: []string{"-o"}},
		"--env LD_PRELOAD=x can run":          {Command: "run", Text: study, Flags: []string{"--env=LD_PRELOAD=x"}},
		"--with example.com/m=./m is a":       {Command: "run", Text: study, Flags: []string{"--with=example.com/m=./m"}},
		"the order has no file /etc/passwd":   {Command: "json", Names: []string{"/etc/passwd"}, Files: []File{file}},
		"the order has no file y.json":        {Command: "json", Names: []string{"y.json"}, Files: []File{file}},
		"the order has no file --help":        {Command: "routes", Names: []string{"--help"}, Files: []File{file}},
		"outside of the order's directory":    {Command: "json", Files: []File{{"../x", file.Hash, 1}}},
		"no file d.json":                      {Command: "run", Text: strings.Replace(study, "fixture: devices, n: 50", "file: d.json", 1)},
		"file go.mod, which it does not name": {Command: "run", Text: study, Files: []File{{"go.mod", file.Hash, 1}}},
		"file contenders/codec/encoding-json/main.go, which it does not name": {Command: "run", Text: strings.Replace(study, "fixture: devices, n: 50", "file: x.json", 1), Files: []File{file, {"contenders/codec/encoding-json/main.go", file.Hash, 1}}},
		"file tare.yaml, which it does not name":                              {Command: "json", Names: []string{"x.json"}, Files: []File{file, {"tare.yaml", file.Hash, 1}}},
		"--with example.com/m@main is no release":                             {Command: "run", Text: study, Flags: []string{"--with=example.com/m@main"}},
		"--with example.com/m@v1.2.4-0.20240102030405-abcdefabcdef is no":     {Command: "run", Text: study, Flags: []string{"--with=example.com/m@v1.2.4-0.20240102030405-abcdefabcdef"}},
		`neither module@version nor module=./dir`:                             {Command: "run", Text: study, Flags: []string{"--with=-x"}},
		"with example.com/m@abcdef is no release":                             {Command: "run", Text: strings.Replace(study, "contenders: [encoding-json]", "contenders: [encoding-json, {id: x, use: encoding-json, with: example.com/m@abcdef}]", 1)},
		"without a hash": {Command: "json", Repo: &gitrev.Packed{Head: "--upload-pack=x"}},
	} {
		o.Most = 1
		if err := o.check(Limits{}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
	for what, o := range map[string]StudyOrder{
		"documents":  {Command: "json", Names: []string{"x.json"}, Files: []File{file}, Flags: []string{"--only=sonic*"}},
		"routes":     {Command: "routes", Names: []string{"x.json"}, Files: []File{file}},
		"a release":  {Command: "run", Text: study, Flags: []string{"--with=example.com/m@v1.2.3"}},
		"a variable": {Command: "run", Text: study, Flags: []string{"--env=GOGC=50", "--procs=2"}},
	} {
		o.Most = 1
		if err := o.check(Limits{}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	args := StudyOrder{Command: "bench", Flags: []string{"--base=ab", "--pgo=p.prof"}, Names: []string{"./..."}, Files: []File{{Name: "p.prof"}}, Most: 6, Seed: 5}.Args("/d")
	if want := "bench --json --rounds=6 --seed=5 --base=ab --pgo=/d/p.prof -- ./..."; strings.Join(args, " ") != want {
		t.Errorf("%q, want %s", args, want)
	}
	o := good()
	if o.Study.Text = command; o.check(Limits{Commands: true}) != nil {
		t.Errorf("commands are allowed: %v", o.check(Limits{Commands: true}))
	}
	shares := func() Order {
		return Order{Protocol: Protocol, ID: "o", Load: &LoadOrder{Target: Target{Addr: "127.0.0.1:80"}, Duration: time.Second, Rate: "300/s", Of: 3, Connections: 1}}
	}
	limits := Limits{Rate: 100, Duration: 2 * time.Second, Targets: []string{"shop.example:443"}}
	if err := shares().check(limits); err != nil {
		t.Fatal(err)
	}
	for why, change := range map[string]func(*LoadOrder){
		"--allow-target": func(o *LoadOrder) { o.Target.Addr = "other.example:443" },
		"--most-rate":    func(o *LoadOrder) { o.Rate = "3000/s" },
		"301000 requests": func(o *LoadOrder) {
			o.Rate = "step:903000/s" + strings.Repeat(",1/s", 999)
			o.Duration = 2 * time.Second
		},
		"334 requests":    func(o *LoadOrder) { o.Rate = "ramp:1/s..1001/s" },
		"335 requests":    func(o *LoadOrder) { o.Rate = "ramp:1004/s..1/s" },
		"101 requests":    func(o *LoadOrder) { o.Rate = "poisson:303/s" },
		"closed loop":     func(o *LoadOrder) { o.Rate = "" },
		"--most-duration": func(o *LoadOrder) { o.Duration = time.Minute },
		"no duration":     func(o *LoadOrder) { o.Duration = 0 },
		"no warm-up":      func(o *LoadOrder) { o.Warm = time.Hour + 1 },
		"is no warm-up":   func(o *LoadOrder) { o.Warm = -time.Second },
		"share":           func(o *LoadOrder) { o.Index = 3 },
		"101 objectives":  func(o *LoadOrder) { o.Hold = make(load.SLO, 101) },
		"rate":            func(o *LoadOrder) { o.Rate = "often" },
	} {
		o := shares()
		change(o.Load)
		if err := o.check(limits); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
	o = shares()
	if o.Load.Target.Addr = "shop.example:443"; o.check(limits) != nil {
		t.Errorf("its target is allowed: %v", o.check(limits))
	}
}
