"""What teachers and learners need: copies of the chapters, grading, wheels for a class."""
