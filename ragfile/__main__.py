from ragfile.cli import main

main()
