// Package profiles makes test events for app ingest, which stores events. Their metadata is a user's profile,
// as in the published example.
package profiles

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/fixture"
)

// Bodies returns pool batches of n events each, as JSON. All bodies have the same length. pool 0 means
// [fixture.DefaultPool].
func Bodies(n, pool int) ([][]byte, error) {
	if pool == 0 {
		pool = fixture.DefaultPool
	}
	tooFew := n < 1 || pool < 0
	tooMany := n > fixture.MaxItems || pool > fixture.MaxItems || n*pool > fixture.MaxItems // the product cannot overflow
	if tooFew || tooMany {
		return nil, fmt.Errorf("%d bodies of %d events: want at least one of each and at most %d events", pool, n, fixture.MaxItems)
	}
	random := fixture.NewRandom("tare/ingest/profiles/v1") // its argument is the seed
	list := make([][]byte, pool)
	for i := range list {
		records := make([]ingest.Record, n)
		for k := range records {
			records[k] = newRecord(random, i*n+k)
		}
		body, err := json.Marshal(records)
		if err != nil {
			return nil, err
		}
		list[i] = body
	}
	return list, nil
}

// newRecord returns event i, one second later than the one before. Any change of the order of random numbers
// changes all pools.
func newRecord(r *fixture.Random, i int) ingest.Record {
	first := [...]string{"Ines", "Tove", "Nils", "Jona", "Ruth"}[drawInt(r, 0, 4)]
	last := [...]string{"Holm", "Dahl", "Lind", "Berg", "Falk"}[drawInt(r, 0, 4)]
	company := [...]string{"Nordlys", "Smaland", "Halland", "Vattern", "Malaren"}[drawInt(r, 0, 4)]
	about := make([]string, 60)
	words := [...]string{"bees", "boat", "wood", "salt", "rain", "tide", "moss", "lamp"}
	for k := range about {
		about[k] = words[drawInt(r, 0, len(words)-1)]
	}
	timestamp := fixture.Epoch().Add(time.Duration(i) * time.Second)
	return ingest.Record{
		ID:        drawUUID(r),
		Timestamp: ingest.Time{Time: timestamp},
		Metadata: ingest.Metadata{
			Index:      drawInt(r, 1000, 9999),
			GUID:       drawUUID(r),
			IsActive:   true,
			Balance:    fmt.Sprintf("$%d,%03d.%02d", drawInt(r, 1, 9), drawInt(r, 0, 999), drawInt(r, 0, 99)),
			Picture:    fmt.Sprintf("https://pictures.example.org/%s/64x64", hexDigits(r, 8)),
			Age:        drawInt(r, 20, 79),
			EyeColor:   [...]string{"grey", "blue", "teal"}[drawInt(r, 0, 2)],
			Name:       first + " " + last,
			Gender:     "female",
			Company:    company,
			Email:      strings.ToLower(first+"."+last) + "@example.org",
			Phone:      fmt.Sprintf("+46 (%d) %d-%d", drawInt(r, 100, 999), drawInt(r, 100, 999), drawInt(r, 1000, 9999)),
			Address:    fmt.Sprintf("%d Quay Street, Lund, Scania, %d", drawInt(r, 100, 999), drawInt(r, 10000, 99999)),
			About:      strings.Join(about, " ") + ".\r\n",
			Registered: fmt.Sprintf("20%02d-%02d-%02dT%02d:20:48 -01:00", drawInt(r, 10, 25), drawInt(r, 1, 12), drawInt(r, 1, 28), drawInt(r, 0, 23)),
			Latitude:   drawDegrees(r),
			Longitude:  drawDegrees(r),
		},
	}
}

func drawUUID(r *fixture.Random) string {
	return hexDigits(r, 8) + "-" + hexDigits(r, 4) + "-" + hexDigits(r, 4) + "-" + hexDigits(r, 4) + "-" + hexDigits(r, 12)
}

// drawInt returns a random number from low to high, both included.
func drawInt(r *fixture.Random, low, high int) int { return low + int(r.Next()%uint64(high-low+1)) }

// drawDegrees returns a number from 10 to 90 with six decimals. The last is not 0, for a constant length.
func drawDegrees(r *fixture.Random) float64 {
	return float64(1_000_000*drawInt(r, 10, 89)+10*drawInt(r, 0, 99_999)+drawInt(r, 1, 9)) / 1e6
}

func hexDigits(r *fixture.Random, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[r.Next()%16]
	}
	return string(b)
}
