package homelab_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/homelab"
)

func Example() {
	house, err := homelab.New(homelab.Config{}, []homelab.Device{
		{ID: "light.desk", Type: "light", State: "off"},
		{ID: "sensor.door", Type: "sensor", State: "on"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(house.Command("light.desk", homelab.Command{Action: "toggle"}))
	_, err = house.Command("sensor.door", homelab.Command{Action: "toggle"})
	refusal := house.RefusalOf(err)
	fmt.Println(refusal.Status, refusal.Code)
	// Output:
	// {light.desk toggle on} <nil>
	// 405 read_only
}

// start is when everything in these tests happens.
func start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// devices are a light and a sensor, and a switch without attributes.
func devices() []homelab.Device {
	return []homelab.Device{
		{ID: "light.desk", Name: "Desk", Type: "light", State: "off", Attributes: map[string]any{"brightness": 128.0, "tags": []any{"a", map[string]any{"b": nil}}}, LastUpdated: start()},
		{ID: "sensor.door", Name: "Door", Type: "sensor", State: "on", Attributes: map[string]any{"battery": 95.0}, LastUpdated: start()},
		{ID: "switch.fan", Name: "Fan", Type: "switch", State: "on", LastUpdated: start()},
		{ID: "binary_sensor.rain", Name: "Rain", Type: "binary_sensor", State: "off", LastUpdated: start()},
	}
}

func newHouse(t testing.TB, c homelab.Config) *homelab.House {
	t.Helper()
	h, err := homelab.New(c, devices())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func refusal(t testing.TB, h *homelab.House, err error) *homelab.Refusal {
	t.Helper()
	if err == nil {
		t.Fatal("nothing is refused")
	}
	return h.RefusalOf(err)
}

func TestNewRefuses(t *testing.T) {
	clock := start
	for what, c := range map[string]struct {
		config  homelab.Config
		devices []homelab.Device
		err     string
	}{
		"two of an id":    {devices: []homelab.Device{{ID: "a"}, {ID: "b"}, {ID: "a"}}, err: `two devices "a"`},
		"no id":           {devices: []homelab.Device{{ID: "a"}, {}}, err: "device 1 has no id"},
		"negative rate":   {config: homelab.Config{Rate: -1, Now: clock}, err: "negative"},
		"rate, no clock":  {config: homelab.Config{Rate: 1}, err: "clock"},
		"a path":          {config: homelab.Config{Origins: []string{"https://a.example/"}}, err: `"https://a.example/" is no origin`},
		"no scheme":       {config: homelab.Config{Origins: []string{"*", "a.example"}}, err: `"a.example" is no origin`},
		"a user":          {config: homelab.Config{Origins: []string{"https://u@a.example"}}, err: "is no origin"},
		"not even an URL": {config: homelab.Config{Origins: []string{"https://a b"}}, err: "is no origin"},
	} {
		if _, err := homelab.New(c.config, c.devices); err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", what, err, c.err)
		}
	}
}

func TestEmptyHouse(t *testing.T) {
	h, err := homelab.New(homelab.Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if list := h.Devices(); list == nil || len(list) > 0 {
		t.Errorf("%#v, want a list without devices", list)
	}
	if h.CORS() || h.Limited() || h.Allow("https://a.example") != "" {
		t.Error("something is configured")
	}
	if headers, ok := h.Take("192.0.2.1"); !ok || headers != nil {
		t.Errorf("%v %v without a limit", headers, ok)
	}
}

// What the caller does to its own list afterwards does not matter.
func TestDevicesAreTheHousesOwn(t *testing.T) {
	mine := devices()
	h, err := homelab.New(homelab.Config{}, mine)
	if err != nil {
		t.Fatal(err)
	}
	mine[0].State = "burning"
	mine[0].Attributes["brightness"] = 1e9
	d, err := h.Device("light.desk")
	if err != nil || d.State != "off" || d.Attributes["brightness"] != 128.0 {
		t.Errorf("%+v, %v", d, err)
	}
	if d, _ := h.Device("switch.fan"); d.Attributes == nil {
		t.Error("attributes would be null as JSON")
	}
	var ids []string
	for _, d := range h.Devices() {
		ids = append(ids, d.ID)
	}
	if want := []string{"light.desk", "sensor.door", "switch.fan", "binary_sensor.rain"}; !slices.Equal(ids, want) {
		t.Errorf("%q, want %q", ids, want)
	}
	if r := refusal(t, h, func() error { _, err := h.Device("light.desks"); return err }()); r.Status != 404 || r.Code != "unknown_device" || r.Message != `there is no device "light.desks"` {
		t.Errorf("%+v", r)
	}
}

func TestServices(t *testing.T) {
	h := newHouse(t, homelab.Config{})
	all := h.Services("")
	if len(all) < 8 || len(all) > 12 {
		t.Errorf("%d services", len(all))
	}
	seen := map[string]bool{}
	for _, s := range all {
		if s.Name != strings.ToLower(s.Name) || s.Namespace == "" || s.Kind == "" || s.Ready > s.Replicas || s.Port < 1 || seen[s.Name] {
			t.Errorf("%+v", s)
		}
		seen[s.Name] = true
	}
	for part, want := range map[string]int{"home-assistant": 2, "photos-cache": 1, "photos": 2, "Grafana": 0, "*": 0} {
		found := h.Services(part)
		if len(found) != want || found == nil {
			t.Errorf("%q: %#v, want %d", part, found, want)
		}
		for _, s := range found {
			if !strings.Contains(s.Name, part) {
				t.Errorf("%q: %s", part, s.Name)
			}
		}
	}
}

func TestAllow(t *testing.T) {
	two := newHouse(t, homelab.Config{Origins: []string{" https://a.example:8443 ", "", "http://b.example"}})
	every := newHouse(t, homelab.Config{Origins: []string{"https://a.example", "*"}})
	for _, c := range []struct {
		house        *homelab.House
		origin, want string
	}{
		{two, "https://a.example:8443", "https://a.example:8443"},
		{two, "http://b.example", "http://b.example"},
		{two, "https://b.example", ""},
		{two, "http://b.example.evil.example", ""},
		{two, "null", ""},
		{two, "", ""},
		{every, "https://c.example", "*"},
		{every, "", ""},
	} {
		if got := c.house.Allow(c.origin); got != c.want {
			t.Errorf("%q: %q, want %q", c.origin, got, c.want)
		}
	}
	if !two.CORS() || !every.CORS() || newHouse(t, homelab.Config{Origins: []string{""}}).CORS() {
		t.Error("CORS() is not what is configured")
	}
}

func TestAdmit(t *testing.T) {
	closed, two := newHouse(t, homelab.Config{}), newHouse(t, homelab.Config{Origins: []string{"https://a.example"}})
	every := newHouse(t, homelab.Config{Origins: []string{"*"}})
	for _, c := range []struct {
		house                     *homelab.House
		contentType, origin, host string
		want                      int // zero: let in
	}{
		{closed, "", "", "", 0},
		{closed, "application/json", "", "home:8080", 0},
		{closed, "Application/JSON ; charset=utf-8", "", "home:8080", 0},
		{closed, "text/plain", "", "home:8080", 415},
		{closed, "application/x-www-form-urlencoded", "", "home:8080", 415},
		{closed, "multipart/form-data; boundary=b", "", "home:8080", 415},
		{closed, "application/json, text/plain", "", "home:8080", 415},
		{closed, "application/json", "http://home:8080", "home:8080", 0},
		{closed, "application/json", "http://home", "home:8080", 403},
		{closed, "application/json", "http://evil.example:8080", "home:8080", 403},
		{closed, "application/json", "http://home:8081", "home:8080", 403}, // another program of the same host
		{closed, "", "https://evil.example:443", "home:8080", 403},
		{closed, "application/json", "http://evil.example", "home:8080", 403},
		{closed, "application/json", "null", "home:8080", 403},
		{closed, "application/json", "null", "null", 403},
		{closed, "application/json", "://", "", 403},
		{closed, "", "http://evil.example", "home:8080", 403}, // a Blob without a type
		{two, "application/json", "https://a.example", "home:8080", 0},
		{two, "application/json", "https://a.example:8080", "home:8080", 403},
		{two, "application/json", "https://a.example.evil.example", "home:8080", 403},
		{every, "application/json", "https://c.example", "home:8080", 0},
		{every, "text/plain", "https://c.example", "home:8080", 415},
	} {
		status := 0
		if err := c.house.Admit(c.contentType, c.origin, c.host); err != nil {
			status = c.house.RefusalOf(err).Status
		}
		if status != c.want {
			t.Errorf("%q of %q at %q: %d, want %d", c.contentType, c.origin, c.host, status, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	h := newHouse(t, homelab.Config{})
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{homelab.Malformed(errors.New("invalid character\nof a decoder")), 400, "malformed"},
		{homelab.Malformed(nil), 400, "malformed"},
		{homelab.Malformed(homelab.TooLarge()), 413, "too_large"},
		{homelab.NotFound(), 404, "not_found"},
		{homelab.NotAllowed(), 405, "method_not_allowed"},
		{homelab.TooLarge(), 413, "too_large"},
		{homelab.TooMany(), 429, "too_many_requests"},
		{fmt.Errorf("somewhere: %w", homelab.NotFound()), 404, "not_found"},
		{errors.New("the password is swordfish"), 500, "internal"},
	} {
		r := h.RefusalOf(c.err)
		if r.Status != c.status || r.Code != c.code || r.Message == "" || strings.Contains(r.Message, "\n") || strings.Contains(r.Message, "swordfish") {
			t.Errorf("%v: %+v, want %d %s", c.err, r, c.status, c.code)
		}
	}
	if err := homelab.Malformed(errors.New("a decoder's words")); !strings.Contains(err.Error(), "a decoder's words") {
		t.Errorf("%v does not say what the decoder said", err)
	}
	_, err := h.Device(strings.Repeat("é", 1000))
	if r := h.RefusalOf(err); len(r.Message) > 200 {
		t.Errorf("%d bytes of message", len(r.Message))
	}
}

func TestMetrics(t *testing.T) {
	h := newHouse(t, homelab.Config{Rate: 9, Now: start})
	for _, status := range []int{200, 404, 200, -1, 600} {
		h.Served(status)
	}
	h.RefusalOf(homelab.NotFound())
	h.Take("192.0.2.1")
	if _, err := h.Command("light.desk", homelab.Command{Action: "toggle"}); err != nil {
		t.Fatal(err)
	}
	text := string(h.Metrics())
	for _, want := range []string{
		"# TYPE homelab_answers_total counter\nhomelab_answers_total{status=\"200\"} 2\nhomelab_answers_total{status=\"404\"} 1\n",
		"homelab_refusals_total{error=\"not_found\"} 1\n",
		"homelab_commands_total{action=\"set\"} 0\nhomelab_commands_total{action=\"toggle\"} 1\n",
		"# TYPE homelab_devices gauge\nhomelab_devices 4\n",
		"homelab_rate_limited_clients 1\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(newHouse(t, homelab.Config{}).Metrics()), "clients") {
		t.Error("clients are counted where there is no limit")
	}
}

// Whoever reads sees a whole state, and keeps what they got, whatever is
// commanded meanwhile.
func TestConcurrently(t *testing.T) {
	h := newHouse(t, homelab.Config{Rate: 1 << 30, Now: start})
	kept := h.Devices()
	before := devices()
	const times = 200
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for i := range times {
				if _, err := h.Command("light.desk", homelab.Command{Action: "set", Parameters: map[string]any{"x": i, "y": i}}); err != nil {
					t.Error(err)
				}
				if _, err := h.Command("switch.fan", homelab.Command{Action: "toggle"}); err != nil {
					t.Error(err)
				}
				h.Take(fmt.Sprint(n))
				h.Served(200)
				h.RefusalOf(homelab.NotFound())
			}
		})
		all.Go(func() {
			for range times {
				if a := h.Devices()[0].Attributes; a["x"] != a["y"] {
					t.Errorf("half a change: %v", a)
				}
				h.Metrics()
			}
		})
	}
	all.Wait()
	before[2].Attributes, before[3].Attributes = map[string]any{}, map[string]any{}
	if !reflect.DeepEqual(kept, before) {
		t.Errorf("a list that was handed out has changed:\n%+v", kept)
	}
	if d, _ := h.Device("switch.fan"); d.State != "on" {
		t.Errorf("after %d toggles: %s", 4*times, d.State)
	}
	if want := fmt.Sprintf("homelab_refusals_total{error=\"not_found\"} %d\n", 4*times); !strings.Contains(string(h.Metrics()), want) {
		t.Errorf("no %q", want)
	}
}
