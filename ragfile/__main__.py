from ragfile.doors.cli.main import main

main()
