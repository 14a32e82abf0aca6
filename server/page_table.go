package server

import (
	"net/http"
	"strconv"

	"github.com/edsight/edsight/views"
)

// pageRows is how many rows of a table one page shows.
const pageRows = 100

// window is the part of a table that a request asks for with page=.
type window struct {
	request *http.Request
	number  int // from 1
	total   int // rows seen so far
}

func newWindow(r *http.Request) (*window, error) {
	w := &window{request: r, number: 1}
	text := r.URL.Query().Get("page")
	if text == "" {
		return w, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1_000_000 {
		return nil, badRequest("page is a number from 1 on, not %q", text)
	}
	w.number = n
	return w, nil
}

// next counts a row and tells whether it is shown.
func (w *window) next() bool {
	w.total++
	return w.total > (w.number-1)*pageRows && w.total <= w.number*pageRows
}

// page says which rows were shown, after all were counted.
func (w *window) page() views.Page {
	first, last := (w.number-1)*pageRows+1, min(w.number*pageRows, w.total)
	if first > last {
		first, last = 0, 0
	}
	p := views.Page{First: first, Last: last, Total: w.total}
	if w.number > 1 {
		p.Prev = w.url(w.number - 1)
	}
	if w.total > w.number*pageRows {
		p.Next = w.url(w.number + 1)
	}
	return p
}

func (w *window) url(number int) string {
	q := w.request.URL.Query()
	q.Set("page", strconv.Itoa(number))
	if number == 1 {
		q.Del("page")
	}
	return withQuery(w.request.URL.EscapedPath(), q)
}
