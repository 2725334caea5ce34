"""Read and write other formats and stores. Each module is imported on first use."""
