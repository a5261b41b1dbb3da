// Package profiles makes the events that app ingest is sent: what users' profiles
// report, as the published example of the service had it.
package profiles

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/fixture"
)

// Bodies are batches of n events each, as JSON. No value changes its number of bytes,
// so that all bodies of a pool are equally long. Zero pool means [fixture.DefaultPool].
func Bodies(n, pool int) ([][]byte, error) {
	if pool == 0 {
		pool = fixture.DefaultPool
	}
	if n < 1 || pool < 0 || n > fixture.MaxItems || pool > fixture.MaxItems || n*pool > fixture.MaxItems {
		return nil, fmt.Errorf("%d bodies of %d events: want at least one of each and at most %d events", pool, n, fixture.MaxItems)
	}
	r := fixture.NewRandom("tare/ingest/profiles/v1")
	list := make([][]byte, pool)
	for i := range list {
		records := make([]ingest.Record, n)
		for k := range records {
			records[k] = profile(r, i*n+k)
		}
		body, err := json.Marshal(records)
		if err != nil {
			return nil, err
		}
		list[i] = body
	}
	return list, nil
}

// profile is event number i.
func profile(r *fixture.Random, i int) ingest.Record {
	first := [...]string{"Ines", "Tove", "Nils", "Jona", "Ruth"}[draw(r, 0, 4)]
	last := [...]string{"Holm", "Dahl", "Lind", "Berg", "Falk"}[draw(r, 0, 4)]
	company := [...]string{"Nordlys", "Smaland", "Halland", "Vattern", "Malaren"}[draw(r, 0, 4)]
	about := make([]string, 60)
	words := [...]string{"bees", "boat", "wood", "salt", "rain", "tide", "moss", "lamp"}
	for k := range about {
		about[k] = words[draw(r, 0, len(words)-1)]
	}
	at := fixture.Epoch().Add(time.Duration(i) * time.Second)
	return ingest.Record{
		ID:        digits(r, 8) + "-" + digits(r, 4) + "-" + digits(r, 4) + "-" + digits(r, 4) + "-" + digits(r, 12),
		Timestamp: ingest.Time{Time: at},
		Metadata: ingest.Metadata{
			Index: draw(r, 1000, 9999), GUID: digits(r, 8) + "-" + digits(r, 4) + "-" + digits(r, 4) + "-" + digits(r, 4) + "-" + digits(r, 12),
			IsActive: true, Balance: fmt.Sprintf("$%d,%03d.%02d", draw(r, 1, 9), draw(r, 0, 999), draw(r, 0, 99)),
			Picture: fmt.Sprintf("https://pictures.example.org/%s/64x64", digits(r, 8)), Age: draw(r, 20, 79),
			EyeColor: [...]string{"grey", "blue", "teal"}[draw(r, 0, 2)], Name: first + " " + last, Gender: "female",
			Company: company, Email: strings.ToLower(first+"."+last) + "@example.org",
			Phone:   fmt.Sprintf("+46 (%d) %d-%d", draw(r, 100, 999), draw(r, 100, 999), draw(r, 1000, 9999)),
			Address: fmt.Sprintf("%d Quay Street, Lund, Scania, %d", draw(r, 100, 999), draw(r, 10000, 99999)),
			About:   strings.Join(about, " ") + ".\r\n", Registered: fmt.Sprintf("20%02d-%02d-%02dT%02d:20:48 -01:00", draw(r, 10, 25), draw(r, 1, 12), draw(r, 1, 28), draw(r, 0, 23)),
			Latitude: degrees(r), Longitude: degrees(r),
		},
	}
}

// draw is a number from low to high.
func draw(r *fixture.Random, low, high int) int {
	return low + int(r.Next()%uint64(high-low+1))
}

// degrees is a number of six decimals, of which the last is not 0.
func degrees(r *fixture.Random) float64 {
	return float64(1_000_000*draw(r, 10, 89)+10*draw(r, 0, 99_999)+draw(r, 1, 9)) / 1e6
}

// digits is n random hexadecimal digits.
func digits(r *fixture.Random, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[r.Next()%16]
	}
	return string(b)
}
