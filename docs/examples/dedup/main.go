// Command dedup is a service that recognizes crashes: which dumps are of the same one? It keeps no dumps.
//
//	dedup ADDRESS
//
//	POST /            the body is a dump; answers how many dumps had its crash, and the first of them in one record
//	GET  /SIGNATURE   the first dump of a crash as a table in Parquet, with the count among its labels
//
// Stability: unstable.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/export"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: dedup ADDRESS")
	}
	server := http.Server{Addr: os.Args[1], Handler: newService(), ReadHeaderTimeout: time.Minute}
	log.Fatal(server.ListenAndServe())
}

// A crash has the first dump of a signature, and how many had it.
type crash struct {
	Count int             `json:"count"`
	First *answer.Summary `json:"first"`
}

// A service counts crashes by their signatures.
type service struct {
	mu      sync.Mutex
	crashes map[string]crash
}

func newService() http.Handler {
	s := &service{crashes: map[string]crash{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{$}", s.post)
	mux.HandleFunc("GET /{signature}", s.table)
	return mux
}

// post reads a dump and counts its crash.
func (s *service) post(w http.ResponseWriter, r *http.Request) {
	found, err := summarize(r, http.MaxBytesReader(w, r.Body, 8<<30))
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.add(found)) // the client is gone if that fails
}

func summarize(r *http.Request, dump io.Reader) (*answer.Summary, error) {
	d, err := sosgo.OpenStream(dump, sosgo.Options{Offline: true})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		return nil, err
	}
	s, err := v.Summary(r.Context(), sosgo.SummaryOptions{NoHeap: true})
	if err == nil && s.Signature == "" {
		err = errors.New("the dump does not show a crash that can be recognized")
	}
	return s, err
}

// add counts a crash and returns it.
func (s *service) add(found *answer.Summary) crash {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.crashes[found.Signature]
	c.Count, c.First = c.Count+1, cmp.Or(c.First, found)
	s.crashes[found.Signature] = c
	return c
}

// table answers the first dump of a crash as a table of one row. The column labels has the count.
func (s *service) table(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	c := s.crashes[r.PathValue("signature")]
	s.mu.Unlock()
	if c.Count == 0 {
		http.NotFound(w, r)
		return
	}
	out := new(bytes.Buffer)
	o := export.TableOptions{Labels: map[string]string{"count": strconv.Itoa(c.Count)}}
	written, err := export.SummaryTables(r.Context(), c.First, o, func(name string, write func(io.Writer) error) error {
		if name != "dump.parquet" {
			return nil
		}
		return write(out)
	})
	if err = errors.Join(append(written.Noted(), err)...); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.apache.parquet")
	_, _ = w.Write(out.Bytes()) // the client is gone if that fails
}
