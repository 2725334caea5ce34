from ragfile.cli.main import main

main()
