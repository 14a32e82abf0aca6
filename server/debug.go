package server

func (s *Server) debugRoutes() []route { return nil }
func (s *Server) apiRoutes() []route   { return nil }
