"""Dashboards as files, made from one set of queries, and a script that loads them."""
