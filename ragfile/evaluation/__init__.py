"""Measure search quality: judged collections, measures, runs and their comparison."""
