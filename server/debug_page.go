package server

import (
	"net/http"

	"github.com/a-h/templ"
)

// debugRow is a debug handler as the list's JSON has it.
type debugRow struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Help   string `json:"help"`
}

// debugPage shows the rows of the table of routes that make it up.
func (s *Server) debugPage(list []route) pageFunc {
	rows := make([]debugRow, len(list))
	for i, rt := range list {
		rows[i] = debugRow{Method: rt.method, Path: rt.pattern, Help: rt.help}
	}
	return func(*http.Request) (any, templ.Component, error) {
		return rows, debugTable(list, s.assets), nil
	}
}
