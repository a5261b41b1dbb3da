// Command shop serves orders from a file of lines.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"

	"example.com/shop"
)

func main() {
	port := flag.String("port", "8080", "port on loopback")
	file := flag.String("orders", "orders.ndjson", "file of orders, one per line")
	list := flag.Bool("routes", false, "list the routes and serve nothing")
	flag.Parse()
	lines, err := os.ReadFile(*file)
	if err != nil {
		log.Fatal(err)
	}
	orders, err := shop.Parse(lines)
	if err != nil {
		log.Fatalf("%s: %v", *file, err)
	}
	mux := http.NewServeMux()
	all := routes(orders)
	for _, route := range slices.Sorted(maps.Keys(all)) {
		if *list {
			fmt.Println(route)
		}
		mux.HandleFunc(route, all[route])
	}
	if *list {
		return
	}
	log.Fatal(http.ListenAndServe(net.JoinHostPort("127.0.0.1", *port), mux))
}

// routes returns the handlers by method and path.
func routes(orders []shop.Order) map[string]http.HandlerFunc {
	byID := map[int64]*shop.Order{}
	for i := range orders {
		byID[orders[i].ID] = &orders[i]
	}
	return map[string]http.HandlerFunc{
		"GET /healthz": func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]bool{"ok": true}) },
		"GET /orders":  func(w http.ResponseWriter, _ *http.Request) { answer(w, orders) },
		"GET /orders/{id}": func(w http.ResponseWriter, r *http.Request) {
			id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
			if o := byID[id]; err == nil && o != nil {
				answer(w, o)
				return
			}
			http.Error(w, `{"error":"no such order"}`, http.StatusNotFound)
		},
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		log.Print(err)
	}
}
