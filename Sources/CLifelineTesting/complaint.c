#include "CLifelineTesting.h"

#include <stdio.h>

void lifeline_complain(const char *line) { fputs(line, stderr); }
